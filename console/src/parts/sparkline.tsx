// A small line chart with a text for screen readers.

const WIDTH = 100;
const HEIGHT = 24;

interface SparklineProps {
  readonly values: readonly number[];
  /** Value at the upper edge. Charts with the same value can be compared. */
  readonly top: number;
  readonly label: string;
}

export function Sparkline({ values, top, label }: SparklineProps) {
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map(
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
