import { useState } from 'preact/hooks';
import type { ConnectorDatabase, DeadLetterGroup, PreviewedDeadLettersAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { isWritable } from '../common/fleet-store.ts';
import { short } from '../common/format.ts';
import { SqlLink } from '../common/sql-link.tsx';
import { dateTime, shortTime } from '../common/time.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/dead-letters.ts';
import { peakOf, type Histogram } from './dead-letter-record.ts';
import { faultTitle } from './fault-title.ts';
import { RecordView } from './record-view.tsx';
import { ReplayPreview } from './previewed-records.tsx';

const STEP = 2;
const HEIGHT = 18;

interface GroupViewProps {
  readonly name: string;
  readonly group: DeadLetterGroup;
  /** The database of the connector; `undefined` while it is not known. */
  readonly database: ConnectorDatabase | undefined;
  /** Called when the user wants to replay the group. `isPreviewed`: the preview has shown that its records would be stored. */
  readonly onReplay: (group: string, isPreviewed: boolean) => void;
}

/** Shows a group of records with the same fault: the number, the times and examples. An opened group previews a replay of its records. */
export function GroupView({ name, group, database, onReplay }: GroupViewProps) {
  const [isOpen, setOpen] = useState(false);
  const [example, setExample] = useState(0);
  const path = `${connectorPath(name)}/dead-letters/preview`;
  const preview = () => request<PreviewedDeadLettersAnswer>('POST', path, { selection: { group: group.id } });
  const { examples, count, replayed } = group;
  const shown = examples[example % Math.max(1, examples.length)];
  const { fix } = faultTitle(titleParts(group), database?.place?.schema);
  const replay = (button: string, isPreviewed: boolean) => (
    <Button class={isPreviewed ? 'primary' : ''} onClick={() => onReplay(group.id, isPreviewed)}>
      {button}
    </Button>
  );
  return (
    <details class="group" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <GroupSummary group={group} />
      {fix === undefined ? null : (
        <p class="fix">
          {texts.mayFix} <code>{fix}</code> <CopyButton text={fix} /> <SqlLink database={database} statement={fix} />
        </p>
      )}
      {isWritable.value ? (
        <ReplayPreview
          title={texts.whatNow}
          load={preview}
          isAskedAtOnce={isOpen && replayed < count}
          whenStored={() => replay(texts.replayNow(count - replayed), true)}
        >
          {replay(texts.replayGroup, false)}
        </ReplayPreview>
      ) : null}
      {shown === undefined ? null : (
        <RecordView key={`${String(shown.partition)}-${String(shown.offset)}`} name={name} deadLetter={shown} />
      )}
      {examples.length < 2 ? null : (
        <Button onClick={() => setExample((example + 1) % examples.length)}>{texts.nextRecord}</Button>
      )}
    </details>
  );
}

function titleParts(group: DeadLetterGroup): DeadLetterGroup {
  const message = group.message ?? group.examples[0]?.fault.message;
  return message === undefined ? group : { ...group, message };
}

function GroupSummary({ group }: { readonly group: DeadLetterGroup }) {
  const { count, replayed, histogram, first, last } = group;
  const { title, chips } = faultTitle(titleParts(group));
  const time = ({ timestamp }: DeadLetterGroup['first']) => (timestamp < 0 ? '–' : shortTime(timestamp));
  return (
    <summary>
      <strong class="number">{short(count)}</strong>
      <span class="fault">
        {title}{' '}
        {chips.map((chip) => (
          <span key={chip} class="chip">
            {chip}
          </span>
        ))}
      </span>
      {replayed === 0 ? null : <span class="chip replayed">{texts.replayed(replayed, count)}</span>}
      {histogram === undefined || histogram.counts.length < 2 ? null : <GroupTimes histogram={histogram} />}
      <span class="quiet">{texts.firstAndLast(time(first), time(last))}</span>
    </summary>
  );
}

/** Shows as bars when the records of a group were written. All groups have the same time axis. */
function GroupTimes({ histogram }: { readonly histogram: Histogram }) {
  const { from, bucketMs, counts } = histogram;
  const peak = peakOf(histogram);
  const width = counts.length * STEP;
  const text = texts.times(
    dateTime(from),
    dateTime(from + counts.length * bucketMs),
    peak.count,
    dateTime(peak.at),
    bucketMs,
  );
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
        // The minimum height keeps a single record visible next to a bar of thousands.
        const height = count === 0 ? 0 : Math.max(2, (count / peak.count) * HEIGHT);
        return <rect key={index} x={index * STEP} y={HEIGHT - height} width={STEP} height={height} />;
      })}
    </svg>
  );
}
