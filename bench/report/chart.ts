// An SVG bar chart with a title, and a name and a figure per bar. Readable on white and on black.

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Our bar is highlighted. */
  readonly isOurs?: boolean;
}

export interface Chart {
  /** File name without extension. */
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  readonly bars: readonly Bar[];
}

const WIDTH = 720;
const LABEL_WIDTH = 200;
const FIGURE_WIDTH = 110;
const BAR_HEIGHT = 22;
const GAP = 8;
const TOP = 40;

export function drawChart(chart: Chart): string {
  const bars = chart.bars.filter((bar) => Number.isFinite(bar.value));
  const largest = Math.max(...bars.map((bar) => bar.value), Number.MIN_VALUE);
  const height = TOP + bars.length * (BAR_HEIGHT + GAP) + GAP;
  const lines = bars.flatMap((bar, index) => {
    const y = TOP + index * (BAR_HEIGHT + GAP);
    const width = (bar.value / largest) * (WIDTH - LABEL_WIDTH - FIGURE_WIDTH);
    const textY = y + BAR_HEIGHT - 6;
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${textY}" text-anchor="end">${escapeText(bar.label)}</text>`,
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" fill="${bar.isOurs ? '#0b7a75' : '#9aa5b1'}"/>`,
      `<text x="${(LABEL_WIDTH + width + 6).toFixed(1)}" y="${textY}">${bar.value.toFixed(chart.digits)} ${escapeText(chart.unit)}</text>`,
    ];
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="14" fill="#7a8591">`,
    `<title>${escapeText(chart.title)}</title>`,
    `<text x="8" y="24" font-size="16" font-weight="bold">${escapeText(chart.title)}</text>`,
    ...lines,
    '</svg>',
  ].join('\n')}\n`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
