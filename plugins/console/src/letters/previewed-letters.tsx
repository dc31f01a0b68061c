import { useEffect, useState } from 'preact/hooks';
import { texts } from '../texts/letters.ts';
import { faultText, outcomes, rowTables, type LettersPreview, type PreviewedLetter, type RowTable } from './letter.ts';

/** What would become of letters, in one line. */
export function outcomeText({ records }: LettersPreview): string {
  const parts = outcomes(records).map(([outcome, count]) => `${textOf(outcome)}: ${String(count)}`);
  return texts.previewed(records.length, parts.join(', '));
}

const FIRST = 5;

/** What would become of each letter: its rows, its SQL, its faults. */
export function PreviewedLetters({ records }: Pick<LettersPreview, 'records'>) {
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    setWhole(false);
  }, [records]);
  return (
    <>
      <ul class="previewed">
        {(isWhole ? records : records.slice(0, FIRST)).map((record) => (
          <Previewed key={`${String(record.letter.partition)}-${String(record.letter.offset)}`} previewed={record} />
        ))}
      </ul>
      {isWhole || records.length <= FIRST ? null : (
        <button
          type="button"
          onClick={() => {
            setWhole(true);
          }}
        >
          {texts.showAll(records.length)}
        </button>
      )}
    </>
  );
}

function Previewed({ previewed }: { readonly previewed: PreviewedLetter }) {
  const { letter, outcome, faults, rows = [], lines = [], statements = [] } = previewed;
  return (
    <li>
      <span class={`outcome-mark ${outcome.split(' ', 1)[0] ?? ''}`}>{textOf(outcome)}</span>{' '}
      <span class="quiet">{texts.place(letter.partition, letter.offset)}</span>
      {faults.map((fault, index) => (
        <p key={index}>{faultText(fault)}</p>
      ))}
      {rowTables(rows).map((table, index) => (
        <RowsView key={index} of={table} />
      ))}
      {lines.length === 0 ? null : <Folded title={texts.lines} text={lines.join('\n')} />}
      {statements.length === 0 ? null : <Folded title={texts.sql} text={statements.join(';\n')} />}
    </li>
  );
}

function textOf(outcome: string): string {
  return texts.outcomes[outcome] ?? outcome;
}

function RowsView({ of: { table, operation, columns, rows } }: { readonly of: RowTable }) {
  const title = texts.rowsOf(texts.operations[operation] ?? operation, table);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((values, index) => (
            <tr key={index}>
              {values.map((value, place) => (
                <td key={place}>{value === null ? <em class="quiet">{texts.null}</em> : String(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
