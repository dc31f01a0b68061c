import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { SelectField } from '../kit/field.tsx';
import { texts } from '../texts/data.ts';
import { chartPoints, type ChartColumns } from './result-text.ts';
import type { SqlResult } from './sql-api.ts';

interface ResultChartProps {
  readonly result: SqlResult;
  readonly columns: ChartColumns;
}

const HEIGHT = 320;
/** Width of a digit at the axis, in pixels. */
const CHARACTER = 6.5;
const PADDING = 18;

/** A column with numbers over the column with times. */
export function ResultChart({ result, columns: { time, values } }: ResultChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [column, setColumn] = useState(values[0] ?? 0);
  const title = texts.chartOf(result.columns[column]?.name ?? '');
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const style = getComputedStyle(current);
    const axis = {
      stroke: style.getPropertyValue('--quiet'),
      grid: { stroke: style.getPropertyValue('--line') },
      ticks: { show: false },
      font: '11px sans-serif',
    };
    const [times, numbers] = chartPoints(result, time, column);
    const plot = new uPlot(
      {
        width: current.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        axes: [axis, { ...axis, size: (_, ticks) => PADDING + CHARACTER * longest(ticks ?? []) }],
        series: [{}, { stroke: style.getPropertyValue('--accent'), width: 1.5, points: { show: times.length < 100 } }],
      },
      [times, numbers],
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
  }, [result, column]);
  return (
    <>
      {values.length < 2 ? null : (
        <div class="filters">
          <SelectField
            label={texts.chartColumn}
            value={String(column)}
            options={values.map(String)}
            text={(index) => result.columns[Number(index)]?.name ?? ''}
            onChange={(index) => setColumn(Number(index))}
          />
        </div>
      )}
      <figure class="sql-chart">
        <figcaption>{title}</figcaption>
        <div ref={place} role="img" aria-label={title} />
      </figure>
    </>
  );
}

function longest(ticks: readonly string[]): number {
  return Math.max(0, ...ticks.map((tick) => tick.length));
}
