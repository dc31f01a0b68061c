import { useEffect, useState } from 'preact/hooks';
import type { DeadLetters as DeadLettersAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import '../common/form.css';
import { worker } from '../common/fleet-store.ts';
import { short } from '../common/format.ts';
import { Problem } from '../common/problem.tsx';
import type { PartProps } from '../connector/health.ts';
import { texts } from '../texts/letters.ts';
import { LetterGroupView } from './letter-group-view.tsx';
import { restKey } from './letter-selection.ts';
import { LetterSearch } from './letter-search.tsx';
import './letters.css';
import { RecentFaults } from './recent-faults.tsx';
import { ReplayForm, type Chosen } from './replay-form.tsx';
import { ReplayList } from './replay-list.tsx';

const FIRST_LIMIT = 100_000;
const MAX_LIMIT = 10_000_000;

interface Found {
  readonly answer: DeadLettersAnswer;
  readonly at: Date;
}

/** Which records of a sink were not stored, why, and the way to store them after all. */
export function DeadLetters({ name }: Pick<PartProps, 'name'>) {
  const [found, setFound] = useState<Found | undefined>();
  const [problem, setProblem] = useState('');
  const [limit, setLimit] = useState(FIRST_LIMIT);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOpen = true;
    request<DeadLettersAnswer>('GET', `${connectorPath(name)}/dead-letters?limit=${String(limit)}`).then(
      (answer) => {
        if (!isOpen) return;
        setFound({ answer, at: new Date() });
        setProblem('');
      },
      (error: unknown) => {
        if (isOpen) setProblem((error as Error).message);
      },
    );
    return () => {
      isOpen = false;
    };
  }, [name, limit, round]);
  const hasMore = found?.answer.hasMore === true && limit < MAX_LIMIT;
  return (
    <>
      <section>
        <h2>{texts.deadLetters}</h2>
        <Problem text={problem} />
        {found === undefined ? (
          problem === '' && <p class="empty">{texts.loading}</p>
        ) : (
          <p class="quiet">
            {topicText(found.answer)} {texts.asOf(found.at.toLocaleTimeString())}
          </p>
        )}
        <div class="bulk">
          <button
            type="button"
            onClick={() => {
              setRound(round + 1);
            }}
          >
            {texts.look}
          </button>
          {hasMore ? (
            <button
              type="button"
              onClick={() => {
                setLimit(limit * 10);
              }}
            >
              {texts.readMore}
            </button>
          ) : null}
        </div>
        {found === undefined ? null : <FoundLetters name={name} found={found.answer} />}
      </section>
    </>
  );
}

function topicText({ topic, scanned, hasMore }: DeadLettersAnswer): string {
  return topic === null ? texts.noLetterTopic : texts.letterTopic(topic, short(scanned), hasMore);
}

function FoundLetters({ name, found }: { readonly name: string; readonly found: DeadLettersAnswer }) {
  const { topic, groups, ungrouped } = found;
  const [chosen, setChosen] = useState<Chosen>({ group: '', round: 0 });
  const [started, setStarted] = useState(0);
  return (
    <>
      {groups.map((group) => (
        <LetterGroupView
          key={group.id}
          name={name}
          group={group}
          onReplay={(id) => {
            setChosen({ group: id, round: chosen.round + 1 });
          }}
        />
      ))}
      {ungrouped === 0 ? null : <p class="quiet">{texts.ungrouped(ungrouped)}</p>}
      {topic !== null && groups.length === 0 ? <p class="empty">{texts.noLetters}</p> : null}
      {topic === null ? null : <LetterSearch name={name} />}
      <RecentFaults name={name} found={found} />
      {topic === null ? null : (
        <section>
          {groups.length > 0 && worker.value?.readOnly === false ? (
            <ReplayForm
              name={name}
              groups={groups}
              chosen={chosen}
              onStarted={() => {
                setStarted(started + 1);
              }}
            />
          ) : null}
          <ReplayList
            name={name}
            round={started}
            onRest={(rest) => {
              setChosen({ group: restKey(rest), rest, round: chosen.round + 1 });
            }}
          />
        </section>
      )}
    </>
  );
}
