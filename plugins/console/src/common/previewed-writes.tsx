import { Table } from '../kit/table.tsx';
import { texts } from '../texts/preview.ts';
import { cellText, rowTables, type RowTable, type Writes } from './previewed-rows.ts';
import './previewed-writes.css';

/** Shows previewed rows as tables, and previewed lines and SQL in folds. */
export function PreviewedWrites({ rows = [], lines = [], statements = [], faults }: Writes) {
  return (
    <div class="writes">
      {rowTables(rows).map((table, index) => (
        <RowsView key={index} of={table} hasFaults={faults.length > 0} />
      ))}
      {lines.length === 0 ? null : <Folded title={texts.lines} text={lines.join('\n')} />}
      {statements.length === 0 ? null : <Folded title={texts.sql} text={statements.join(';\n')} />}
    </div>
  );
}

interface RowsViewProps {
  readonly of: RowTable;
  readonly hasFaults: boolean;
}

function RowsView({ of: { table, operation, columns, rows }, hasFaults }: RowsViewProps) {
  return (
    <Table label={texts.rowsOf(operation, table, hasFaults)} titles={columns} hasCaption>
      {rows.map((values, index) => (
        <tr key={index}>
          {values.map((value, place) => (
            <td key={place}>{value === null ? <em class="quiet">{texts.null}</em> : cellText(value)}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Folded({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <details>
      <summary>{title}</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
