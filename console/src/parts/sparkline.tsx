// A small curve of counts, with its sum in words for who cannot see it.

const WIDTH = 100;
const HEIGHT = 24;

export function Sparkline({ counts, label }: { readonly counts: readonly number[]; readonly label: string }) {
  const top = Math.max(1, ...counts);
  const step = WIDTH / Math.max(1, counts.length - 1);
  const points = counts.map(
    (value, i) => `${(i * step).toFixed(1)},${(HEIGHT - 1 - (value / top) * (HEIGHT - 3)).toFixed(1)}`,
  );
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {points.length > 1 && <path d={`M0,${HEIGHT} L${points.join(' L')} L${WIDTH},${HEIGHT} Z`} />}
    </svg>
  );
}
