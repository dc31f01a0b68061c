import type { ComponentChildren } from 'preact';
import type { PreviewedRecord } from '../common/answers.ts';
import { cellText, payloadText } from '../common/previewed-rows.ts';
import '../common/previewed-writes.css';
import { dateTime } from '../common/time.ts';
import { Fold } from '../kit/fold.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/editor.ts';
import { texts as preview } from '../texts/preview.ts';
import { withoutEffect, writtenTables, type WrittenTable } from './previewed-tables.ts';

interface PreviewedRecordsProps {
  readonly records: readonly PreviewedRecord[];
}

/** Shows the effect of the records on the database: faults first, then all rows, and lines, SQL and JSON on request. */
export function PreviewedRecords({ records }: PreviewedRecordsProps) {
  const lines = records.flatMap((record) => record.lines ?? []);
  const statements = records.flatMap((record) => record.statements ?? []);
  return (
    <section class="writes" aria-label={texts.preview}>
      <Faults records={records.filter(({ faults }) => faults.length > 0)} />
      {writtenTables(records).map((table) => (
        <Rows key={`${table.operation} ${String(table.hasFaults)} ${table.table}`} of={table} />
      ))}
      <Places text={texts.droppedPlaces} records={records.filter(({ dropped }) => dropped)} />
      <Places text={texts.noEffectPlaces} records={withoutEffect(records)} />
      <Text title={preview.lines} text={lines.join('\n')} />
      <Text title={preview.sql} text={[...new Set(statements)].join(';\n')} />
      <Fold title={texts.asJson(records.length)} class="as-json">
        {() => <Json records={records} />}
      </Fold>
    </section>
  );
}

function Faults({ records }: PreviewedRecordsProps) {
  if (records.length === 0) return null;
  return (
    <Table label={texts.faults(records.length)} titles={texts.faultTitles} hasCaption>
      {records.map(({ message, faults }) => (
        <tr key={placeOf(message)}>
          <Message of={message} />
          <td class="problem text">
            {faults.map((fault) => (
              <p key={`${fault.stage} ${fault.message ?? ''}`}>{texts.fault(fault.stage, fault.message ?? '')}</p>
            ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Rows({ of: { table, operation, hasFaults, columns, rows } }: { readonly of: WrittenTable }) {
  const label = preview.rowsOf(operation, table, hasFaults);
  return (
    <Table label={label} titles={[texts.message, ...columns]} hasCaption>
      {rows.map(({ message, cells }, index) => (
        <tr key={index}>
          <Message of={message} />
          {cells.map((cell, place) => (
            <td key={place}>{cellOf(cell)}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** A missing cell is empty: the column of the row is not written. */
function cellOf(cell: unknown): ComponentChildren {
  if (cell === undefined) return '';
  return cell === null ? <em class="quiet">{preview.null}</em> : cellText(cell);
}

function Message({ of: message }: { readonly of: PreviewedRecord['message'] }) {
  return (
    <td class="quiet" title={dateTime(message.timestamp)}>
      {placeOf(message)}
    </td>
  );
}

/** Lists the messages of the records in one line; nothing if there is none. */
function Places({ text, records }: PreviewedRecordsProps & { readonly text: (places: string) => string }) {
  if (records.length === 0) return null;
  return <p class="quiet">{text(records.map(({ message }) => placeOf(message)).join(', '))}</p>;
}

function Text({ title, text }: { readonly title: string; readonly text: string }) {
  if (text === '') return null;
  return (
    <details>
      <summary>{title}</summary>
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}

function Json({ records }: PreviewedRecordsProps) {
  return (
    <Table label={texts.asJson(records.length)} titles={texts.jsonTitles}>
      {records.map(({ message, record }) => (
        <tr key={placeOf(message)}>
          <Message of={message} />
          <td class="value">{payloadText(record?.key)}</td>
          <td class="value">{payloadText(record?.value)}</td>
        </tr>
      ))}
    </Table>
  );
}

function placeOf({ partition, offset }: PreviewedRecord['message']): string {
  return texts.messageAt(partition, offset);
}
