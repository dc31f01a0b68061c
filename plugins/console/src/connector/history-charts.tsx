import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { WorkerHistory } from '../common/answers.ts';
import { short } from '../common/format.ts';
import { clockTime, durationText } from '../common/time.ts';
import { Button } from '../kit/button.tsx';
import { Table } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/connector.ts';
import { catchUp, isFlat, within, type ChartEvent } from './chart-events.ts';
import { extremes, inFiveMinutes, lonePoints, type Points } from './chart-figures.ts';

const SERIES = ['rate', 'lag', 'batchSize', 'batchMs', 'retries', 'letters'] as const;
type Series = (typeof SERIES)[number];

const STEP_MS = 5000;
const HEIGHT = 160;
/** Minimum length of the time axis. A shorter history fills only a part of the axis. */
const MIN_SPAN_SECONDS = 600;
const MINUTES = [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60);
/** Possible steps between labels of the value axis. The smallest is 0.1, because labels have one decimal place. */
const ROUND_STEPS = Array.from({ length: 14 }, (_, power) => [1, 2, 5].map((step) => (step * 10 ** power) / 10)).flat();
/** Series that are summed over the workers. The other series are averaged. */
const SUMMED: ReadonlySet<Series> = new Set(['rate', 'lag', 'letters', 'retries']);

const OF_SOURCE = SERIES.filter((name) => name !== 'lag' && name !== 'letters');

/** Series that have large charts, because they are the most important ones. */
const LARGE: ReadonlySet<Series> = new Set(['rate', 'lag']);
const WINDOWS = [15, 60] as const;

interface HistoryChartsProps {
  readonly workers: readonly WorkerHistory[];
  readonly events: readonly ChartEvent[];
  readonly isSink: boolean;
}

/**
 * Shows charts of the rate, of the lag of a sink, and of each other figure that is not always zero. A chart combines
 * the tasks of all workers, and marks the events.
 */
export function HistoryCharts({ workers, events, isSink }: HistoryChartsProps) {
  const [minutes, setMinutes] = useState<number>(WINDOWS[1]);
  const isEmpty = workers.every(({ rate }) => rate.every((value) => value === null));
  const isDark = useDark();
  if (isEmpty) return <p class="empty">{texts.noHistory}</p>;
  const charts = (isSink ? SERIES : OF_SOURCE).map((name) => ({
    name,
    points: within(merged(workers, name), minutes),
  }));
  const drawn = charts.filter(({ name, points }) => LARGE.has(name) || !isFlat(points));
  const flat = charts.filter(({ name, points }) => !LARGE.has(name) && isFlat(points));
  const [at] = charts[0]?.points ?? [[], []];
  const spanMinutes = Math.round(((at.at(-1) ?? 0) - (at[0] ?? 0)) / 60);
  const marks = events.filter((event) => event.at >= (at[0] ?? 0));
  return (
    <>
      <div class="bulk" role="group" aria-label={texts.window}>
        {WINDOWS.map((each) => (
          <Button key={each} aria-pressed={minutes === each} onClick={() => setMinutes(each)}>
            {texts.windows[each]}
          </Button>
        ))}
        {spanMinutes < minutes - 1 ? <span class="quiet">{texts.known(spanMinutes)}</span> : null}
      </div>
      <div class="charts">
        {drawn.map(({ name, points }) => (
          <Chart
            key={`${name} ${String(isDark)}`}
            title={texts.series[name]}
            note={name === 'lag' ? catchUpText(points) : ''}
            points={points}
            events={marks}
            minutes={minutes}
            isLarge={LARGE.has(name)}
          />
        ))}
      </div>
      {flat.length === 0 ? null : (
        <p class="quiet">{texts.flat(flat.map(({ name }) => texts.series[name].toLowerCase()).join(', '))}</p>
      )}
      <Events events={marks} />
      <ChartTable charts={charts} />
    </>
  );
}

function catchUpText(points: Points): string {
  const found = catchUp(points);
  if (found === undefined) return '';
  return found === 'never' ? texts.neverCaughtUp : texts.caughtUp(durationText(found));
}

const MAX_EVENTS = 20;

/** Lists the latest of the events that are marked in the charts. */
function Events({ events }: { readonly events: readonly ChartEvent[] }) {
  if (events.length === 0) return null;
  return (
    <details class="charts-as-table">
      <summary>
        {texts.events} ({events.length})
      </summary>
      <ul class="plain">
        {events.slice(-MAX_EVENTS).map(({ at, text }) => (
          <li key={`${String(at)} ${text}`}>
            <Time at={at * 1000} /> {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ChartTableProps {
  readonly charts: readonly { readonly name: Series; readonly points: Points }[];
}

function ChartTable({ charts }: ChartTableProps) {
  const titles = charts.map(({ name }) => texts.series[name]);
  return (
    <details class="charts-as-table">
      <summary>{texts.asTable}</summary>
      <Table label={texts.asTable} titles={[texts.minute, ...titles]} numbers={titles}>
        {inFiveMinutes(charts.map(({ points }) => points)).map(({ at, values }) => (
          <tr key={at}>
            <th scope="row">{clockTime(at * 1000).slice(0, 5)}</th>
            {values.map((value, index) => (
              <td key={titles[index]} class="number">
                {short(value)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </details>
  );
}

/** Whether the dark theme is active. A canvas does not change its colours with the theme, so the charts must be drawn again. */
function useDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const changed = (): void => {
      setDark(query.matches);
    };
    query.addEventListener('change', changed);
    return () => {
      query.removeEventListener('change', changed);
    };
  }, []);
  return isDark;
}

interface ChartProps {
  readonly title: string;
  /** A sentence about the latest values, such as the time until the lag is zero. */
  readonly note: string;
  readonly points: Points;
  readonly events: readonly ChartEvent[];
  readonly minutes: number;
  readonly isLarge: boolean;
}

function Chart(props: ChartProps) {
  const { title, note, points, events, minutes, isLarge } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [under, setUnder] = useState<number | undefined>(undefined);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const made = new uPlot(
      optionsOf(current, setUnder, () => latest.current),
      dataOf(points),
      current,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: current.clientWidth, height: HEIGHT });
    });
    observer.observe(current);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData(dataOf(points));
  }, [points, events.length, minutes]);
  const { last, min, max } = extremes(points);
  const at = under === undefined ? undefined : points[0][under];
  const shown = under === undefined ? last : (points[1][under] ?? null);
  return (
    <figure class={isLarge ? 'large' : undefined}>
      <figcaption>
        {title}: <strong>{short(shown)}</strong> {at === undefined ? note : clockTime(at * 1000)}
      </figcaption>
      <div
        ref={place}
        class="chart"
        role="img"
        aria-label={texts.chartText(title, short(last), short(min), short(max))}
      />
    </figure>
  );
}

/**
 * The chart takes its colours from the computed style of `place`: `color` for labels, `border-top-color` for the grid, `caret-color` for the
 * line, `outline-color` for bad events. `now` returns the current events and time range.
 */
function optionsOf(
  place: HTMLElement,
  onCursor: (index: number | undefined) => void,
  now: () => Pick<ChartProps, 'events' | 'minutes'>,
): uPlot.Options {
  const { color, borderTopColor, caretColor, outlineColor } = getComputedStyle(place);
  const axis: uPlot.Axis = {
    stroke: color,
    grid: { stroke: borderTopColor, width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    cursor: { points: { show: true }, y: false, drag: { x: false, y: false }, sync: { key: 'connector' } },
    legend: { show: false },
    axes: [
      {
        ...axis,
        size: 26,
        space: 60,
        incrs: MINUTES,
        values: (_, seconds) => seconds.map((second) => clockTime(second * 1000).slice(0, 5)),
      },
      { ...axis, size: 52, space: 24, incrs: ROUND_STEPS, values: (_, values) => values.map((value) => short(value)) },
    ],
    scales: {
      x: { range: (_, min, max) => [Math.min(min, max - Math.min(MIN_SPAN_SECONDS, now().minutes * 60)), max] },
      y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.05)] },
    },
    series: [
      {},
      {
        stroke: caretColor,
        width: 1.5,
        points: { show: false, size: 4, filter: (plot, index) => lonePoints(plot.data[index] ?? []) },
      },
    ],
    hooks: {
      draw: [
        (plot) => {
          for (const event of now().events) drawMark(plot, event.at, event.isBad ? outlineColor : color);
        },
      ],
      setCursor: [
        ({ cursor: { idx } }) => {
          onCursor(idx ?? undefined);
        },
      ],
    },
  };
}

function dataOf([at, values]: Points): uPlot.AlignedData {
  return [[...at], [...values]];
}

/** Draws a dashed line at the time of an event. */
function drawMark(plot: uPlot, at: number, colour: string): void {
  const x = Math.round(plot.valToPos(at, 'x', true));
  const { left, top, width, height } = plot.bbox;
  if (x < left || x > left + width) return;
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, top + height);
  ctx.stroke();
  ctx.restore();
}

/** Merges the points of all workers into one series. */
function merged(workers: readonly WorkerHistory[], name: Series): Points {
  const found = new Map<number, number[]>();
  for (const history of workers) {
    history.at.forEach((at, index) => {
      const slot = Math.round(at / STEP_MS);
      const value = history[name][index];
      const values = found.get(slot) ?? [];
      if (value !== null && value !== undefined) values.push(value);
      found.set(slot, values);
    });
  }
  const slots = [...found.keys()].sort((a, b) => a - b);
  const ys = slots.map((slot) => {
    const values = found.get(slot) ?? [];
    if (values.length === 0) return null;
    const sum = values.reduce((total, value) => total + value, 0);
    return SUMMED.has(name) ? sum : sum / values.length;
  });
  return [slots.map((slot) => (slot * STEP_MS) / 1000), ys];
}
