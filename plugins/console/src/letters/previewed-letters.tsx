import { useEffect, useState } from 'preact/hooks';
import type { PreviewedLetter, PreviewedLetters as PreviewedLettersAnswer } from '../common/answers.ts';
import { PreviewedWrites } from '../common/previewed-writes.tsx';
import { texts } from '../texts/letters.ts';
import { faultText, outcomes } from './letter.ts';

/** What would become of letters, in one line. */
export function outcomeText({ records }: PreviewedLettersAnswer): string {
  const parts = outcomes(records).map(([outcome, count]) => `${textOf(outcome)}: ${String(count)}`);
  return texts.previewed(records.length, parts.join(', '));
}

const FIRST = 5;
/** The letter itself has it. */
const SAME_FAULT = 'fails with the same fault';

/** What would become of each letter: its rows, its SQL, its faults. */
export function PreviewedLetters({ records }: Pick<PreviewedLettersAnswer, 'records'>) {
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
  const { letter, outcome, faults, rows, lines, statements } = previewed;
  return (
    <li>
      <span class={`outcome-mark ${outcome.split(' ', 1)[0] ?? ''}`}>{textOf(outcome)}</span>{' '}
      <span class="quiet">{texts.place(letter.partition, letter.offset)}</span>
      {outcome === SAME_FAULT
        ? null
        : faults.map((fault, index) => (
            <p key={index} class="problem">
              {faultText(fault)}
            </p>
          ))}
      <PreviewedWrites rows={rows} lines={lines} statements={statements} />
    </li>
  );
}

function textOf(outcome: string): string {
  return texts.outcomes[outcome] ?? outcome;
}
