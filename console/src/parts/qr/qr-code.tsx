// A QR code as a picture: always dark on light, since many cameras read no other.

import { qrMatrix } from './qr-matrix.ts';
import './qr.css';

const QUIET = 4;

/** Nothing where the text is too long for one. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const matrix = qrMatrix(text);
  if (matrix === undefined) return null;
  const size = matrix.length + 2 * QUIET;
  const dark = matrix.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + QUIET},${y + QUIET}h1v1h-1z`] : [])),
  );
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <title>{label}</title>
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}
