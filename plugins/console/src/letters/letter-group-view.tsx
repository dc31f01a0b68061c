import { useState } from 'preact/hooks';
import type { LetterGroup, PreviewedLetters as PreviewedLettersAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { short } from '../common/format.ts';
import { texts } from '../texts/letters.ts';
import { faultText } from './letter.ts';
import { LetterTimes } from './letter-times.tsx';
import { LetterView } from './letter-view.tsx';
import { outcomeText, PreviewedLetters } from './previewed-letters.tsx';

interface LetterGroupViewProps {
  readonly name: string;
  readonly group: LetterGroup;
  readonly onReplay: (group: string) => void;
}

/** Letters with the same fault: how many, since when, examples, and what would become of them now. */
export function LetterGroupView({ name, group, onReplay }: LetterGroupViewProps) {
  const [outcome, setOutcome] = useState('');
  const [preview, setPreview] = useState<PreviewedLettersAnswer | undefined>();
  const ask = async (): Promise<void> => {
    setOutcome(texts.loading);
    setPreview(undefined);
    try {
      const body = { selection: { group: group.id } };
      const answer = await request<PreviewedLettersAnswer>('POST', `${connectorPath(name)}/dead-letters/preview`, body);
      setPreview(answer);
      setOutcome(outcomeText(answer));
    } catch (error) {
      setOutcome((error as Error).message);
    }
  };
  const message = group.message ?? group.examples[0]?.fault.message;
  const time = ({ timestamp }: LetterGroup['first']) => (timestamp < 0 ? '–' : new Date(timestamp).toLocaleString());
  return (
    <details class="group">
      <summary>
        <strong class="number">{short(group.count)}</strong>
        <span class="fault">{faultText({ ...group, ...(message === undefined ? {} : { message }) })}</span>
        {group.replayed === 0 ? null : <span class="quiet">{texts.replayed(group.replayed, group.count)}</span>}
        {group.histogram === undefined || group.histogram.counts.length < 2 ? null : (
          <LetterTimes histogram={group.histogram} />
        )}
        <span class="quiet">{texts.firstAndLast(time(group.first), time(group.last))}</span>
      </summary>
      <div class="bulk">
        {worker.value?.readOnly === false ? (
          <>
            <button type="button" onClick={() => void ask()}>
              {texts.whatNow}
            </button>
            <button
              type="button"
              onClick={() => {
                onReplay(group.id);
              }}
            >
              {texts.replayGroup}
            </button>
          </>
        ) : null}
        <span role="status">{outcome}</span>
      </div>
      {preview === undefined ? null : <PreviewedLetters records={preview.records} />}
      {group.examples.map((letter) => (
        <LetterView key={`${String(letter.partition)}-${String(letter.offset)}`} name={name} letter={letter} />
      ))}
    </details>
  );
}
