import { useState } from 'preact/hooks';
import type { DeadLetterGroup, DeadLetters as DeadLettersAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import '../common/form.css';
import { isWritable } from '../common/fleet-store.ts';
import { short } from '../common/format.ts';
import { useDatabase } from '../common/sql-link.tsx';
import { clockTime } from '../common/time.ts';
import type { PartProps } from '../connector/health.ts';
import { Button } from '../kit/button.tsx';
import { Fold } from '../kit/fold.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { texts } from '../texts/dead-letters.ts';
import { GroupView } from './group-view.tsx';
import { restKey } from './selection-form.ts';
import { RecordSearch } from './record-search.tsx';
import './dead-letters.css';
import { RecentFaults } from './recent-faults.tsx';
import { ReplayForm, type Chosen } from './replay-form.tsx';
import { ReplayList } from './replay-list.tsx';

const FIRST_LIMIT = 100_000;
const MAX_LIMIT = 10_000_000;

/** Shows the records that a sink did not store and the causes, and lets the user replay the records. */
export function DeadLetters({ name }: Pick<PartProps, 'name'>) {
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const path = `${connectorPath(name)}/dead-letters?limit=${String(limit)}`;
  const loaded = useLoaded(name, () => request<DeadLettersAnswer>('GET', path), { again: limit });
  const { value: found, at, reload } = loaded;
  return (
    <section>
      <h2>{texts.deadLetters}</h2>
      <Async of={loaded}>
        {(answer) => (
          <p class="quiet">
            {topicText(answer)} {texts.asOf(clockTime(at))}
          </p>
        )}
      </Async>
      <div class="bulk">
        <Button onClick={reload}>{texts.look}</Button>
        {found?.hasMore === true && limit < MAX_LIMIT ? (
          <Button onClick={() => setLimit(limit * 10)}>{texts.readMore}</Button>
        ) : null}
      </div>
      {found === undefined ? null : <FoundRecords name={name} found={found} onReplayed={reload} />}
    </section>
  );
}

function topicText({ topic, scanned, hasMore }: DeadLettersAnswer): string {
  return topic === null ? texts.noDeadLetterTopic : texts.deadLetterTopic(topic, short(scanned), hasMore);
}

interface FoundRecordsProps {
  readonly name: string;
  readonly found: DeadLettersAnswer;
  /** Called when a replay has ended, because it changes the groups. */
  readonly onReplayed: () => void;
}

function FoundRecords({ name, found, onReplayed }: FoundRecordsProps) {
  const { topic, groups, ungrouped } = found;
  const database = useDatabase(name);
  const open = groups.filter(({ count, replayed }) => replayed < count);
  const done = groups.filter(({ count, replayed }) => replayed >= count);
  const [chosen, setChosen] = useState<Chosen>({ group: '', round: 0 });
  const [started, setStarted] = useState(0);
  const choose = (next: Omit<Chosen, 'round'>): void => setChosen({ ...next, round: chosen.round + 1 });
  const replay = (group: string, isPreviewed: boolean): void => choose({ group, isPreviewed });
  const shown = (group: DeadLetterGroup) => (
    <GroupView key={group.id} name={name} group={group} database={database} onReplay={replay} />
  );
  return (
    <>
      {open.map(shown)}
      {done.length === 0 ? null : (
        <Fold title={texts.replayedGroups(done.length)} class="further">
          {() => done.map(shown)}
        </Fold>
      )}
      {ungrouped === 0 ? null : <p class="quiet">{texts.ungrouped(ungrouped)}</p>}
      {topic !== null && groups.length === 0 ? <p class="empty">{texts.noRecords}</p> : null}
      {topic === null ? null : <RecordSearch name={name} />}
      <RecentFaults name={name} found={found} />
      {topic === null ? null : (
        <section>
          {groups.length > 0 && isWritable.value ? (
            <ReplayForm name={name} groups={groups} chosen={chosen} onStarted={() => setStarted(started + 1)} />
          ) : null}
          <ReplayList
            name={name}
            round={started}
            onRest={(rest) => choose({ group: restKey(rest), rest })}
            onEnded={onReplayed}
          />
        </section>
      )}
    </>
  );
}
