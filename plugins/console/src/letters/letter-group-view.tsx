import type { LetterGroup, PreviewedLetters } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { isWritable } from '../common/fleet-store.ts';
import { short } from '../common/format.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/letters.ts';
import { faultText } from './letter.ts';
import { LetterTimes } from './letter-times.tsx';
import { LetterView } from './letter-view.tsx';
import { LettersPreview } from './previewed-letters.tsx';

interface LetterGroupViewProps {
  readonly name: string;
  readonly group: LetterGroup;
  readonly onReplay: (group: string) => void;
}

/** Letters with the same fault: how many, since when, examples, and what would become of them now. */
export function LetterGroupView({ name, group, onReplay }: LetterGroupViewProps) {
  const path = `${connectorPath(name)}/dead-letters/preview`;
  const preview = () => request<PreviewedLetters>('POST', path, { selection: { group: group.id } });
  return (
    <details class="group">
      <GroupSummary group={group} />
      {isWritable.value ? (
        <LettersPreview title={texts.whatNow} load={preview}>
          <Button onClick={() => onReplay(group.id)}>{texts.replayGroup}</Button>
        </LettersPreview>
      ) : null}
      {group.examples.map((letter) => (
        <LetterView key={`${String(letter.partition)}-${String(letter.offset)}`} name={name} letter={letter} />
      ))}
    </details>
  );
}

function GroupSummary({ group }: { readonly group: LetterGroup }) {
  const { count, replayed, histogram, first, last, examples } = group;
  const message = group.message ?? examples[0]?.fault.message;
  const time = ({ timestamp }: LetterGroup['first']) => (timestamp < 0 ? '–' : new Date(timestamp).toLocaleString());
  return (
    <summary>
      <strong class="number">{short(count)}</strong>
      <span class="fault">{faultText({ ...group, message })}</span>
      {replayed === 0 ? null : <span class="quiet">{texts.replayed(replayed, count)}</span>}
      {histogram === undefined || histogram.counts.length < 2 ? null : <LetterTimes histogram={histogram} />}
      <span class="quiet">{texts.firstAndLast(time(first), time(last))}</span>
    </summary>
  );
}
