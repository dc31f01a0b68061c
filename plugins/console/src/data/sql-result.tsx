import { useState } from 'preact/hooks';
import { CopyButton } from '../common/copy-button.tsx';
import { csvOf } from '../common/csv.ts';
import { lazy } from '../common/lazy.tsx';
import { saveCsv } from '../common/save-file.ts';
import { Button } from '../kit/button.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/data.ts';
import { chartColumns, isNumeric } from './result-text.ts';
import { MAX_ROWS, type Cell, type SqlResult } from './sql-api.ts';

const ResultChart = lazy(() => import('./result-chart.tsx').then((module) => module.ResultChart));

/**
 * Shows rows as a table. If there are a time column, a numeric column and at least two rows, the user can switch to a
 * chart.
 */
export function SqlResultView({ result }: { readonly result: SqlResult }) {
  const [isChart, setChart] = useState(false);
  const { columns, rows, hasMore } = result;
  if (columns.length === 0) return null;
  const drawn = chartColumns(result);
  return (
    <section aria-label={texts.result}>
      <div class="bulk">
        {drawn === undefined ? null : (
          <>
            <Button aria-pressed={!isChart} onClick={() => setChart(false)}>
              {texts.table}
            </Button>
            <Button aria-pressed={isChart} onClick={() => setChart(true)}>
              {texts.chart}
            </Button>
          </>
        )}
        {rows.length === 0 ? null : <CsvButtons result={result} />}
      </div>
      {hasMore ? <p class="warning">{texts.more(rows.length)}</p> : null}
      {rows.length === 0 ? <p class="empty">{texts.noRows}</p> : null}
      {isChart && drawn !== undefined ? (
        <ResultChart result={result} columns={drawn} />
      ) : (
        <ResultTable result={result} />
      )}
    </section>
  );
}

function CsvButtons({ result: { columns, rows } }: { readonly result: SqlResult }) {
  const names = columns.map(({ name }) => name);
  return (
    <>
      <Button onClick={() => saveCsv('result.csv', csvOf(names, rows))}>{texts.download}</Button>
      <CopyButton text={() => csvOf(names, rows)} label={texts.copyCsv} />
    </>
  );
}

function ResultTable({ result: { columns, rows } }: { readonly result: SqlResult }) {
  const titles = unique(columns.map(({ name }) => name));
  const numbers = titles.filter((_, index) => isNumeric(columns[index]?.type ?? ''));
  return (
    <div class="sql-grid">
      <Table label={texts.result} titles={titles} numbers={numbers}>
        {rows.slice(0, MAX_ROWS).map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column} class={cellClass(cell, columns[column]?.type ?? '')}>
                <CellView cell={cell} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </div>
  );
}

/** Values of at most this length, such as times, are not wrapped. */
const MAX_UNBROKEN = 32;

function cellClass(cell: Cell, type: string): string {
  if (isNumeric(type)) return 'number';
  return String(cell).length <= MAX_UNBROKEN ? 'nowrap' : '';
}

const MAX_CELL = 2000;

function CellView({ cell }: { readonly cell: Cell }) {
  if (cell === null) return <i class="sql-null">NULL</i>;
  const text = String(cell);
  return <>{text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text}</>;
}

/** Makes column names unique by appending a number, because two columns of a result may have the same name. */
function unique(names: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${String(count)})`;
  });
}
