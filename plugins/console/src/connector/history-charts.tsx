import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { WorkerHistory } from '../common/answers.ts';
import { short } from '../common/format.ts';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/connector.ts';
import { extremes, inFiveMinutes, lonePoints, type Points } from './chart-figures.ts';

const SERIES = ['rate', 'lag', 'batchSize', 'batchMs', 'retries', 'letters'] as const;
type Series = (typeof SERIES)[number];

const STEP_MS = 5000;
const HEIGHT = 160;
/** Minimum length of the time axis; a shorter history fills only part of it. */
const MIN_SPAN_SECONDS = 600;
const MINUTES = [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60);
/** Possible steps between labels of the value axis. The smallest is 0.1, because labels have one decimal place. */
const ROUND_STEPS = Array.from({ length: 14 }, (_, power) => [1, 2, 5].map((step) => (step * 10 ** power) / 10)).flat();
/** Series that are added up over workers; the others are means. */
const SUMMED: ReadonlySet<Series> = new Set(['rate', 'lag', 'letters', 'retries']);

const OF_SOURCE = SERIES.filter((name) => name !== 'lag' && name !== 'letters');

interface HistoryChartsProps {
  readonly workers: readonly WorkerHistory[];
  readonly isSink: boolean;
}

/** A chart for each figure, over the tasks of all workers. */
export function HistoryCharts({ workers, isSink }: HistoryChartsProps) {
  const series = isSink ? SERIES : OF_SOURCE;
  const isEmpty = workers.every(({ rate }) => rate.every((value) => value === null));
  const isDark = useDark();
  if (isEmpty) return <p class="empty">{texts.noHistory}</p>;
  const charts = series.map((name) => ({ name, points: merged(workers, name) }));
  return (
    <>
      <div class="charts">
        {charts.map(({ name, points }) => (
          <Chart key={`${name} ${String(isDark)}`} title={texts.series[name]} points={points} />
        ))}
      </div>
      <details class="charts-as-table">
        <summary>{texts.asTable}</summary>
        <Table
          label={texts.asTable}
          titles={[texts.minute, ...series.map((name) => texts.series[name])]}
          numbers={series.map((name) => texts.series[name])}
        >
          {inFiveMinutes(charts.map(({ points }) => points)).map(({ at, values }) => (
            <tr key={at}>
              <th scope="row">{clock(at)}</th>
              {values.map((value, index) => (
                <td key={series[index]} class="number">
                  {short(value)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

/** The canvas does not follow the theme on its own. */
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

function Chart({ title, points }: { readonly title: string; readonly points: Points }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [under, setUnder] = useState<number | undefined>(undefined);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const made = new uPlot(optionsOf(current, setUnder), dataOf(points), current);
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
  }, [points]);
  const { last, min, max } = extremes(points);
  const at = under === undefined ? undefined : points[0][under];
  const shown = under === undefined ? last : (points[1][under] ?? null);
  return (
    <figure>
      <figcaption>
        {title}: <strong>{short(shown)}</strong> {at === undefined ? '' : clock(at, true)}
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

/** Colours are computed styles of `place`: `color` for labels, `border-top-color` for the grid, `caret-color` for the line. */
function optionsOf(place: HTMLElement, onCursor: (index: number | undefined) => void): uPlot.Options {
  const { color, borderTopColor, caretColor } = getComputedStyle(place);
  const axis: uPlot.Axis = {
    stroke: color,
    grid: { stroke: borderTopColor, width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    cursor: { points: { show: true }, y: false, drag: { x: false, y: false } },
    legend: { show: false },
    axes: [
      { ...axis, size: 26, space: 60, incrs: MINUTES, values: (_, seconds) => seconds.map((second) => clock(second)) },
      { ...axis, size: 52, space: 24, incrs: ROUND_STEPS, values: (_, values) => values.map((value) => short(value)) },
    ],
    scales: {
      x: { range: (_, min, max) => [Math.min(min, max - MIN_SPAN_SECONDS), max] },
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

function clock(seconds: number, isExact = false): string {
  const text = new Date(seconds * 1000).toLocaleTimeString('en-GB');
  return isExact ? text : text.slice(0, 5);
}

/** Points of all workers on one axis of seconds. */
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
