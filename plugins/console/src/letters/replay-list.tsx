import { useEffect, useRef, useState } from 'preact/hooks';
import type { PreviewedLetters as PreviewedLettersAnswer, ReplayAnswer, Replays } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { worker } from '../common/fleet-store.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/letters.ts';
import { outcomeText, PreviewedLetters } from './previewed-letters.tsx';
import type { RestOfReplay } from './letter-selection.ts';
import { failedAgain, progressOf, readRate, restOf, type ReadAt } from './replay-progress.ts';

const RUNNING_MS = 1000;
const QUIET_MS = 10_000;

interface Found {
  readonly replays: readonly ReplayAnswer[];
  readonly rates: ReadonlyMap<number, number>;
}

interface ReplayListProps {
  readonly name: string;
  /** Another number looks at once. */
  readonly round: number;
  readonly onRest: (rest: RestOfReplay) => void;
}

/** The last replays with their progress. */
export function ReplayList({ name, round, onRest }: ReplayListProps) {
  const [found, setFound] = useState<Found | undefined>();
  const [problem, setProblem] = useState('');
  const [own, setOwn] = useState(0);
  const path = `${connectorPath(name)}/dead-letters`;
  useEffect(() => {
    let isOpen = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: ReadonlyMap<number, ReadAt> = new Map();
    const look = async (): Promise<void> => {
      let isRunning = false;
      try {
        const { replays } = await request<Replays>('GET', `${path}/replays`);
        if (!isOpen) return;
        const now = new Map(replays.map(({ id, read }) => [id, { at: Date.now(), read }] as const));
        const rates = [...now].flatMap(([id, each]) => {
          const rate = readRate(last.get(id), each);
          return rate === undefined ? [] : [[id, rate] as const];
        });
        last = now;
        isRunning = replays.some(({ state }) => state === 'RUNNING');
        setFound({ replays, rates: new Map(rates) });
        setProblem('');
      } catch (error) {
        if (isOpen) setProblem((error as Error).message);
      }
      if (isOpen) timer = setTimeout(() => void look(), isRunning ? RUNNING_MS : QUIET_MS);
    };
    void look();
    return () => {
      isOpen = false;
      clearTimeout(timer);
    };
  }, [path, round, own]);
  const stop = async (id: number): Promise<void> => {
    try {
      await request('DELETE', `${path}/replay/${String(id)}`);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setOwn((count) => count + 1);
  };
  return (
    <section aria-label={texts.replays}>
      <h3>{texts.replays}</h3>
      <Problem text={problem} />
      {found === undefined ? null : found.replays.length === 0 ? (
        <p class="quiet">{texts.noReplays}</p>
      ) : (
        <ul class="replays">
          {found.replays.map((replay) => (
            <ReplayItem
              key={replay.id}
              path={path}
              replay={replay}
              rate={found.rates.get(replay.id)}
              onStop={() => stop(replay.id)}
              onRest={onRest}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface ReplayItemProps {
  readonly path: string;
  readonly replay: ReplayAnswer;
  readonly rate: number | undefined;
  readonly onStop: () => Promise<void>;
  readonly onRest: (rest: RestOfReplay) => void;
}

function ReplayItem({ path, replay, rate, onStop, onRest }: ReplayItemProps) {
  const { id, state, startedAt, startedBy, endedAt, reason, transforms, selected, delivered, dropped, failed } = replay;
  const { done, all } = progressOf(replay);
  const isRunning = state === 'RUNNING';
  const isWritable = worker.value?.readOnly === false;
  const rest = restOf(replay);
  const title = useRef<HTMLElement>(null);
  const [isStopping, setStopping] = useState(false);
  const time = (text: string) => new Date(text).toLocaleString();
  return (
    <li>
      <p>
        <strong ref={title} tabIndex={-1}>
          {texts.replayTitle(id)}
        </strong>{' '}
        <span role="status" class={`badge ${state.toLowerCase()}`}>
          {texts.states[state]}
        </span>{' '}
        <span class="quiet">
          {texts.startedBy(time(startedAt), startedBy)}
          {endedAt === null ? '' : `, ${texts.ended(time(endedAt))}`}
          {transforms === null ? '' : `, ${texts.through(transforms)}`}
        </span>
      </p>
      <progress max={Math.max(1, all)} value={all === 0 ? 1 : done} aria-label={texts.replayTitle(id)} />
      <p>
        {texts.progress(done, all)}
        {isRunning && rate !== undefined ? `, ${texts.speed(rate)}` : ''}
      </p>
      <p>
        {texts.counts(selected, delivered, dropped)}{' '}
        <span class={failed === 0 ? undefined : 'problem'}>{texts.failed(failed)}</span>
      </p>
      {reason === null ? null : <p class={state === 'FAILED' ? 'problem' : undefined}>{reason}</p>}
      {isWritable && isRunning ? (
        <button
          type="button"
          aria-label={texts.stopReplay(id)}
          disabled={isStopping}
          onClick={() => {
            setStopping(true);
            void onStop().then(() => {
              setStopping(false);
              // The button is gone.
              title.current?.focus();
            });
          }}
        >
          {isStopping ? texts.stopping : texts.stop}
        </button>
      ) : null}
      {isWritable && rest !== undefined ? (
        <button
          type="button"
          aria-label={texts.replayRestOf(id)}
          onClick={() => {
            onRest(rest);
          }}
        >
          {texts.replayRest}
        </button>
      ) : null}
      {!isRunning && failed > 0 ? <FailedAgain path={path} replay={replay} /> : null}
    </li>
  );
}

function FailedAgain({ path, replay }: Pick<ReplayItemProps, 'path' | 'replay'>) {
  const [preview, setPreview] = useState<PreviewedLettersAnswer | undefined>();
  const [outcome, setOutcome] = useState('');
  const show = async (): Promise<void> => {
    setOutcome(texts.loading);
    try {
      const answer = await request<PreviewedLettersAnswer>('POST', `${path}/preview`, {
        selection: failedAgain(replay),
      });
      const records = answer.records.filter(({ letter }) => letter.attempt > 0);
      setPreview({ ...answer, records });
      setOutcome(outcomeText({ ...answer, records }));
    } catch (error) {
      setOutcome((error as Error).message);
    }
  };
  return (
    <>
      <div class="bulk">
        <button type="button" onClick={() => void show()}>
          {texts.showFailed}
        </button>
        <span role="status">{outcome}</span>
      </div>
      {preview === undefined ? null : <PreviewedLetters records={preview.records} />}
    </>
  );
}
