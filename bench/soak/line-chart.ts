// An SVG chart of lines over the hours of a run. Faults are vertical bands. Readable on white and on black.

export interface Line {
  readonly label: string;
  /** Hours and values, in the order of time. */
  readonly points: readonly (readonly [number, number])[];
}

export interface LineChart {
  readonly title: string;
  readonly unit: string;
  readonly isLogarithmic?: boolean;
  readonly lines: readonly Line[];
  /** From and to, in hours. */
  readonly bands: readonly (readonly [number, number])[];
}

const WIDTH = 960;
const HEIGHT = 360;
const LEFT = 70;
const RIGHT = 130;
const TOP = 44;
const BOTTOM = 36;
const COLOURS = [
  '#0b7a75',
  '#d1495b',
  '#edae49',
  '#4f6d9e',
  '#8e6c8a',
  '#66a182',
  '#c97b3a',
  '#5a5a9a',
  '#9aa5b1',
  '#b5516f',
];
const TICKS = 5;

export function drawLineChart({ title, unit, isLogarithmic = false, lines, bands }: LineChart): string {
  const points = lines.flatMap((line) => line.points).filter(([, y]) => Number.isFinite(y));
  const lastHour = Math.max(...points.map(([x]) => x), 0.01);
  const largest = Math.max(...points.map(([, y]) => y), 1);
  const smallest = isLogarithmic ? 1 : 0;
  const scale = isLogarithmic ? (y: number) => Math.log10(Math.max(y, smallest)) : (y: number) => y;
  const x = (hour: number) => LEFT + (hour / lastHour) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) =>
    HEIGHT - BOTTOM - (scale(value) / Math.max(scale(largest), 1e-9)) * (HEIGHT - TOP - BOTTOM);
  const values = isLogarithmic
    ? Array.from({ length: Math.floor(Math.log10(largest)) + 1 }, (_, i) => 10 ** i)
    : Array.from({ length: TICKS + 1 }, (_, i) => (largest * i) / TICKS);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12" fill="#7a8591">`,
    `<title>${escapeText(title)}</title>`,
    `<text x="8" y="24" font-size="16" font-weight="bold">${escapeText(title)} (${escapeText(unit)})</text>`,
    ...bands.map(
      ([from, to]) =>
        `<rect x="${x(from).toFixed(1)}" y="${TOP}" width="${Math.max(1, x(to) - x(from)).toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}" fill="#d1495b" opacity="0.15"/>`,
    ),
    ...values.flatMap((value) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="#7a8591" opacity="0.3"/>`,
      `<text x="${LEFT - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${value < 10 ? value.toFixed(1) : Math.round(value)}</text>`,
    ]),
    ...Array.from({ length: TICKS + 1 }, (_, i) => (lastHour * i) / TICKS).map(
      (hour) =>
        `<text x="${x(hour).toFixed(1)}" y="${HEIGHT - 12}" text-anchor="middle">${hour.toFixed(lastHour < 5 ? 2 : 1)} h</text>`,
    ),
    ...lines.flatMap((line, i) => {
      const colour = COLOURS[i % COLOURS.length];
      const path = line.points
        .filter(([, value]) => Number.isFinite(value))
        .map(([hour, value]) => `${x(hour).toFixed(1)},${y(value).toFixed(1)}`);
      return [
        `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.3"/>`,
        `<text x="${WIDTH - RIGHT + 8}" y="${TOP + 10 + i * 16}" fill="${colour}">${escapeText(line.label)}</text>`,
      ];
    }),
    '</svg>',
  ].join('\n')}\n`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
