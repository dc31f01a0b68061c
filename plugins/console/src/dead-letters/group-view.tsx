import type { DeadLetterGroup, PreviewedDeadLettersAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { isWritable } from '../common/fleet-store.ts';
import { short } from '../common/format.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/dead-letters.ts';
import { faultText, peakOf, type Histogram } from './dead-letter-record.ts';
import { RecordView } from './record-view.tsx';
import { ReplayPreview } from './previewed-records.tsx';

const STEP = 2;
const HEIGHT = 18;

interface GroupViewProps {
  readonly name: string;
  readonly group: DeadLetterGroup;
  readonly onReplay: (group: string) => void;
}

/** Records with the same fault: how many, since when, examples, and what would become of them now. */
export function GroupView({ name, group, onReplay }: GroupViewProps) {
  const path = `${connectorPath(name)}/dead-letters/preview`;
  const preview = () => request<PreviewedDeadLettersAnswer>('POST', path, { selection: { group: group.id } });
  return (
    <details class="group">
      <GroupSummary group={group} />
      {isWritable.value ? (
        <ReplayPreview title={texts.whatNow} load={preview}>
          <Button onClick={() => onReplay(group.id)}>{texts.replayGroup}</Button>
        </ReplayPreview>
      ) : null}
      {group.examples.map((deadLetter) => (
        <RecordView
          key={`${String(deadLetter.partition)}-${String(deadLetter.offset)}`}
          name={name}
          deadLetter={deadLetter}
        />
      ))}
    </details>
  );
}

function GroupSummary({ group }: { readonly group: DeadLetterGroup }) {
  const { count, replayed, histogram, first, last, examples } = group;
  const message = group.message ?? examples[0]?.fault.message;
  const time = ({ timestamp }: DeadLetterGroup['first']) =>
    timestamp < 0 ? '–' : new Date(timestamp).toLocaleString();
  return (
    <summary>
      <strong class="number">{short(count)}</strong>
      <span class="fault">{faultText({ ...group, message })}</span>
      {replayed === 0 ? null : <span class="quiet">{texts.replayed(replayed, count)}</span>}
      {histogram === undefined || histogram.counts.length < 2 ? null : <GroupTimes histogram={histogram} />}
      <span class="quiet">{texts.firstAndLast(time(first), time(last))}</span>
    </summary>
  );
}

/** The times of the records of a group, as bars; all groups have the same axis. */
function GroupTimes({ histogram }: { readonly histogram: Histogram }) {
  const { from, bucketMs, counts } = histogram;
  const peak = peakOf(histogram);
  const width = counts.length * STEP;
  const time = (at: number) => new Date(at).toLocaleString();
  const text = texts.times(time(from), time(from + counts.length * bucketMs), peak.count, time(peak.at), bucketMs);
  return (
    <svg
      class="group-times"
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${String(width)} ${String(HEIGHT)}`}
      role="img"
      aria-label={text}
    >
      <title>{text}</title>
      {counts.map((count, index) => {
        // A single record among thousands is visible, too.
        const height = count === 0 ? 0 : Math.max(2, (count / peak.count) * HEIGHT);
        return <rect key={index} x={index * STEP} y={HEIGHT - height} width={STEP} height={height} />;
      })}
    </svg>
  );
}
