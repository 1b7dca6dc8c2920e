// A QR code as an image, always dark on light, because many cameras read nothing else.

import { qrMatrix } from './qr-matrix.ts';
import './qr.css';

const QUIET = 4;

/** Renders nothing if the text is too long. */
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
