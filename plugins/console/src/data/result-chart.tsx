import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { SelectField } from '../kit/field.tsx';
import { texts } from '../texts/data.ts';
import { chartData, type ChartColumns, type ChartData } from './result-text.ts';
import type { SqlResult } from './sql-api.ts';

interface ResultChartProps {
  readonly result: SqlResult;
  readonly columns: ChartColumns;
}

const HEIGHT = 320;
/** Width of a digit in the labels of the axis, in pixels. */
const CHARACTER = 6.5;
const PADDING = 18;

/** Plots a numeric column against the time column. If a label column is chosen, each of its values becomes a separate line. */
export function ResultChart({ result, columns: { time, values, labels } }: ResultChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [column, setColumn] = useState(values[0] ?? 0);
  const [label, setLabel] = useState(labels[0]);
  const title = texts.chartOf(result.columns[column]?.name ?? '');
  const data = useMemo(() => chartData(result, { time, value: column, label }), [result, column, label]);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const plot = new uPlot(
      optionsOf(current, data),
      [[...data.times], ...data.series.map((each) => [...each.values])],
      current,
    );
    const observer = new ResizeObserver(() => {
      plot.setSize({ width: current.clientWidth, height: HEIGHT });
    });
    observer.observe(current);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [data]);
  const nameOf = (index: string): string => result.columns[Number(index)]?.name ?? '';
  return (
    <>
      <div class="filters">
        {values.length < 2 ? null : (
          <SelectField
            label={texts.chartColumn}
            value={String(column)}
            options={values.map(String)}
            text={nameOf}
            onChange={(index) => setColumn(Number(index))}
          />
        )}
        {labels.length === 0 ? null : (
          <SelectField
            label={texts.seriesBy}
            value={label === undefined ? '' : String(label)}
            none={texts.noSeries}
            options={labels.map(String)}
            text={nameOf}
            onChange={(index) => setLabel(index === '' ? undefined : Number(index))}
          />
        )}
      </div>
      <figure class="sql-chart">
        <figcaption>{title}</figcaption>
        <div ref={place} role="img" aria-label={title} />
        {data.more === 0 ? null : <p class="quiet">{texts.moreSeries(data.more)}</p>}
      </figure>
    </>
  );
}

/** If there are more lines than colours, lines with the same colour get different dashes. */
const COLOURS = ['--accent', '--warn', '--good', '--bad', '--quiet'];
const DASHES = [[], [6, 3], [2, 3]];

function optionsOf(place: HTMLElement, { times, series }: ChartData): uPlot.Options {
  const style = getComputedStyle(place);
  const axis = {
    stroke: style.getPropertyValue('--quiet'),
    grid: { stroke: style.getPropertyValue('--line') },
    ticks: { show: false },
    font: '11px sans-serif',
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: series.length > 1 },
    axes: [axis, { ...axis, size: (_, ticks) => PADDING + CHARACTER * longest(ticks ?? []) }],
    series: [
      {},
      ...series.map(({ label }, index) => ({
        label,
        stroke: style.getPropertyValue(COLOURS[index % COLOURS.length] ?? '--accent'),
        dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length] ?? [],
        width: 1.5,
        points: { show: times.length < 100 },
      })),
    ],
  };
}

function longest(ticks: readonly string[]): number {
  return Math.max(0, ...ticks.map((tick) => tick.length));
}
