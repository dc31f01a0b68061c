import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PreviewedDeadLetter, PreviewedDeadLettersAnswer } from '../common/answers.ts';
import { PreviewedWrites } from '../common/previewed-writes.tsx';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/dead-letters.ts';
import { faultText, outcomes } from './dead-letter-record.ts';

interface ReplayPreviewProps {
  readonly title: string;
  readonly load: () => Promise<PreviewedDeadLettersAnswer>;
  /** When this becomes true, the preview is loaded automatically, as if the user had pressed the button. */
  readonly isAskedAtOnce?: boolean;
  /** Renders the button that is offered if all previewed records would now be stored. */
  readonly whenStored?: () => ComponentChildren;
  /** Further buttons, shown after the preview button. */
  readonly children?: ComponentChildren;
}

/** A button that previews a replay of records, and the result of the preview. */
export function ReplayPreview({ title, load, isAskedAtOnce = false, whenStored, children }: ReplayPreviewProps) {
  const [preview, setPreview] = useState<PreviewedDeadLettersAnswer | undefined>();
  const { isBusy, problem, run } = useAction();
  const ask = (): Promise<void> =>
    run(async () => {
      setPreview(undefined);
      setPreview(await load());
    });
  useEffect(() => {
    if (isAskedAtOnce && preview === undefined && !isBusy) void ask();
  }, [isAskedAtOnce]);
  return (
    <>
      {preview !== undefined && whenStored !== undefined && areStored(preview) ? (
        <p class="sentence running">
          <strong>{texts.wouldSucceed}</strong> {whenStored()}
        </p>
      ) : null}
      <div class="bulk">
        <Button onClick={ask}>{title}</Button>
        {children}
        <span role="status">{isBusy ? texts.loading : preview === undefined ? problem : outcomeText(preview)}</span>
      </div>
      {preview === undefined ? null : <PreviewedRecords records={preview.records} />}
    </>
  );
}

/** Whether each of the previewed records would be stored. */
function areStored({ records }: PreviewedDeadLettersAnswer): boolean {
  return records.length > 0 && records.every(({ outcome }) => outcome === 'stored');
}

/** The number of records by outcome, in one line. */
export function outcomeText({ records }: PreviewedDeadLettersAnswer): string {
  const parts = outcomes(records).map(([outcome, count]) => `${textOf(outcome)}: ${String(count)}`);
  return texts.previewed(records.length, parts.join(', '));
}

const FIRST = 5;
/** The outcome of a record that would fail again with its stored fault. */
const SAME_FAULT = 'fails with the same fault';

/** Lists the outcome of each record: rows, SQL and faults. */
export function PreviewedRecords({ records }: Pick<PreviewedDeadLettersAnswer, 'records'>) {
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
        <Button onClick={() => setWhole(true)}>{texts.showAll(records.length)}</Button>
      )}
    </>
  );
}

function Previewed({ previewed }: { readonly previewed: PreviewedDeadLetter }) {
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
      <PreviewedWrites rows={rows} lines={lines} statements={statements} faults={faults} />
    </li>
  );
}

function textOf(outcome: string): string {
  return texts.outcomes[outcome] ?? outcome;
}
