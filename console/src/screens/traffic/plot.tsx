// A chart of counts over time with values at the pointer or, by the arrow keys, at a step, zoom by dragging or buttons, and the
// theme's colours. The last step, which is not finished, is shaded. Screen readers get the values
// too, and a table below.

import { useEffect, useRef, useState } from 'preact/hooks';
import type UPlot from 'uplot';
import { isDark } from '../../app/theme.ts';
import { Button } from '../../parts/button.tsx';
import { count, short } from '../../parts/time.tsx';
import { traffic } from '../../words/traffic.ts';
import { words } from '../../words/words.ts';
import { bucketText, moved, zoomed } from './series.ts';

const text = traffic.plot;

const HEIGHT = 240;
const CLOSER = 0.5;
const FARTHER = 2;
/** Range that is shown. */
const MOVE = 0.5;
/** Curves differ not only in colour. */
const DASHES: readonly number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 5]];

interface Line {
  readonly label: string;
  readonly counts: readonly number[];
}

interface PlotProps {
  readonly title: string;
  readonly bucket: 'minute' | 'hour' | 'day';
  readonly timestamps: readonly string[];
  readonly lines: readonly Line[];
}

type Range = readonly [number, number];

export function Plot({ title, bucket, timestamps, lines }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const [range, setRange] = useState<Range>();
  const [isFailed, setFailed] = useState(false);
  /** Index of the step whose values the arrow keys have selected. */
  const [chosen, setChosen] = useState(timestamps.length - 1);
  const at = Math.min(chosen, timestamps.length - 1);
  const seconds = timestamps.map((each) => Date.parse(each) / 1000);
  const whole: Range = [seconds[0] ?? 0, seconds.at(-1) ?? 0];
  const isZoomed = range !== undefined && (range[0] > whole[0] || range[1] < whole[1]);
  const dark = isDark.value;
  const key = JSON.stringify([bucket, timestamps, lines]);
  const drawnKey = useRef(key);

  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    let isGone = false;
    let watch: ResizeObserver | undefined;
    const draw = async () => {
      const { default: Library } = await import('./plot-library.ts');
      if (isGone) return;
      const options = optionsOf(Library, place, bucket, lines, setRange);
      const drawn = new Library(options, [seconds, ...lines.map(({ counts }) => [...counts])], place);
      plot.current = drawn;
      // New colours for the same data keep the zoom.
      if (drawnKey.current === key && range !== undefined)
        drawn.setScale('x', { min: range[0], max: range[1] });
      drawnKey.current = key;
      watch = new ResizeObserver(() => drawn.setSize({ width: place.clientWidth, height: HEIGHT }));
      watch.observe(place);
    };
    draw().catch(() => setFailed(true));
    return () => {
      isGone = true;
      watch?.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [key, dark]);

  const show = (wanted: Range) => plot.current?.setScale('x', { min: wanted[0], max: wanted[1] });
  const shown = range ?? whole;
  const valuesAt = (i: number) =>
    words.figures.listed([
      bucketText(timestamps[i] ?? '', bucket),
      ...lines.map(({ label, counts }) => `${label} ${count(counts[i] ?? 0)}`),
    ]);
  return (
    <div>
      {isFailed && <p class="quiet">{text.failed}</p>}
      <div
        ref={box}
        class="plot traffic-plot"
        role="slider"
        aria-label={text.keys(title)}
        aria-valuemin={0}
        aria-valuemax={timestamps.length - 1}
        aria-valuenow={at}
        aria-valuetext={valuesAt(at)}
        tabIndex={0}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
          const drawn = plot.current;
          if (by === undefined || drawn === undefined) return;
          event.preventDefault();
          const next = Math.max(0, Math.min(timestamps.length - 1, at + by));
          setChosen(next);
          drawn.setCursor({ left: drawn.valToPos(seconds[next] ?? 0, 'x'), top: HEIGHT / 3 });
        }}
      />
      {timestamps.length > 2 && (
        <div class="row traffic-zoom">
          <Button kind="bare" onClick={() => show(zoomed(shown, CLOSER, whole))}>
            {text.closer}
          </Button>
          <Button kind="bare" disabled={!isZoomed} onClick={() => show(zoomed(shown, FARTHER, whole))}>
            {text.farther}
          </Button>
          <Button kind="bare" disabled={!isZoomed} onClick={() => show(moved(shown, -MOVE, whole))}>
            {text.earlier}
          </Button>
          <Button kind="bare" disabled={!isZoomed} onClick={() => show(moved(shown, MOVE, whole))}>
            {text.later}
          </Button>
          <span class="quiet">{text.hint}</span>
        </div>
      )}
    </div>
  );
}

/** Shades the last step. */
function shadeUnfinished(drawn: UPlot, colour: string): void {
  const [before, last] = drawn.data[0].slice(-2);
  if (before === undefined || last === undefined) return;
  const { ctx, bbox } = drawn;
  const [left, right] = [before, last].map((seconds) =>
    Math.max(bbox.left, Math.min(bbox.left + bbox.width, drawn.valToPos(seconds, 'x', true))),
  ) as [number, number];
  ctx.fillStyle = colour;
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
}

function optionsOf(
  Library: typeof UPlot,
  place: HTMLElement,
  bucket: PlotProps['bucket'],
  lines: readonly Line[],
  onRange: (range: Range) => void,
): UPlot.Options {
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  const ms = 1000;
  return {
    width: place.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => Library.tzDate(new Date(seconds * ms), 'Etc/UTC'),
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.08)] } },
    axes: [
      { ...axis, values: AXIS_TIMES, incrs: [...AXIS_STEPS[bucket]] },
      {
        ...axis,
        size: 56,
        label: text.units[bucket],
        labelFont: `12px ${style.fontFamily}`,
        labelSize: 18,
        values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? short(tick) : '')),
      },
    ],
    cursor: { drag: { x: true, y: false }, points: { size: 7 } },
    series: [
      {
        label: text.time,
        value: (_, seconds) =>
          seconds === null ? '—' : bucketText(new Date(seconds * ms).toISOString(), bucket),
      },
      ...lines.map(({ label }, i) => ({
        label,
        stroke: colour(`--traffic-${i + 1}`),
        width: 2,
        dash: DASHES[i % DASHES.length] ?? [],
        ...(lines.length === 1 && { fill: colour('--accent-soft') }),
        points: { show: false },
        value: (_: UPlot, value: number | null) => (value === null ? '—' : count(value)),
      })),
    ],
    hooks: {
      drawClear: [(drawn) => shadeUnfinished(drawn, colour('--sunken'))],
      setScale: [
        (drawn, scale) => {
          const { min, max } = drawn.scales[scale] ?? {};
          if (scale === 'x' && typeof min === 'number' && typeof max === 'number') onRange([min, max]);
        },
      ],
    },
  };
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DATE = '\n{D} {MMM}';
/** Ticks are only at whole counts. */
const AXIS_STEPS = {
  minute: [1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  hour: [1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR),
  day: [1, 2, 7, 14].map((days) => days * DAY),
} as const;
/** For each tick distance: its format, and the text that is added if the year, day or hour changes. */
const AXIS_TIMES: UPlot.Axis.Values = [
  [DAY, '{D} {MMM}', null, null, null, null, null, null, 1],
  [HOUR, '{HH}:00', DATE, null, DATE, null, null, null, 1],
  [MINUTE, '{HH}:{mm}', DATE, null, DATE, null, null, null, 1],
];
