import type { Ref } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { PreviewedDeadLettersAnswer, ReplayAnswer, Replays } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { isWritable } from '../common/fleet-store.ts';
import { shortTime } from '../common/time.ts';
import { useAction } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/dead-letters.ts';
import { ReplayPreview } from './previewed-records.tsx';
import type { RestOfReplay } from './selection-form.ts';
import { failedAgain, progressOf, readRate, restOf, type ReadAt } from './replay-progress.ts';

const RUNNING_MS = 1000;
const QUIET_MS = 10_000;

interface Found {
  readonly replays: readonly ReplayAnswer[];
  readonly rates: ReadonlyMap<number, number>;
}

interface ReplayListProps {
  readonly name: string;
  /** A change of this number reloads the list immediately. */
  readonly round: number;
  readonly onRest: (rest: RestOfReplay) => void;
  /** Called when a running replay has ended. */
  readonly onEnded: () => void;
}

/** Lists the latest replays with their progress. */
export function ReplayList({ name, round, onRest, onEnded }: ReplayListProps) {
  const path = `${connectorPath(name)}/dead-letters`;
  const load = useReplays(path);
  const { value: found, error, reload } = useLoaded(path, load, { again: round, everyMs: pauseAfter });
  const { problem, run } = useAction();
  const running = found?.replays.filter(({ state }) => state === 'RUNNING').length ?? 0;
  const wasRunning = useRef(0);
  useEffect(() => {
    if (running < wasRunning.current) onEnded();
    wasRunning.current = running;
  }, [running]);
  const stop = async (id: number): Promise<void> => {
    await run(() => request('DELETE', `${path}/replay/${String(id)}`));
    reload();
  };
  return (
    <section aria-label={texts.replays}>
      <h3>{texts.replays}</h3>
      <Problem text={problem === '' ? (error?.message ?? '') : problem} />
      {found?.replays.length === 0 ? <p class="quiet">{texts.noReplays}</p> : null}
      <ul class="replays">
        {found?.replays.map((replay) => (
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
    </section>
  );
}

/**
 * Returns a function that loads the replays. For each replay, it computes the rate since the function was last called.
 */
function useReplays(path: string): () => Promise<Found> {
  const last = useRef<ReadonlyMap<number, ReadAt>>(new Map());
  return async () => {
    const { replays } = await request<Replays>('GET', `${path}/replays`);
    const now = new Map(replays.map(({ id, read }) => [id, { at: Date.now(), read }] as const));
    const rates = [...now].flatMap(([id, each]) => {
      const rate = readRate(last.current.get(id), each);
      return rate === undefined ? [] : [[id, rate] as const];
    });
    last.current = now;
    return { replays, rates: new Map(rates) };
  };
}

function pauseAfter(found: Found | undefined): number {
  return found?.replays.some(({ state }) => state === 'RUNNING') === true ? RUNNING_MS : QUIET_MS;
}

interface ReplayItemProps {
  readonly path: string;
  readonly replay: ReplayAnswer;
  readonly rate: number | undefined;
  readonly onStop: () => Promise<void>;
  readonly onRest: (rest: RestOfReplay) => void;
}

function ReplayItem({ path, replay, rate, onStop, onRest }: ReplayItemProps) {
  const { id, state, reason, selected, delivered, dropped, failed } = replay;
  const { done, all } = progressOf(replay);
  const isRunning = state === 'RUNNING';
  const title = useRef<HTMLElement>(null);
  return (
    <li>
      <ReplayTitle replay={replay} titleRef={title} />
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
      {isWritable.value ? (
        // The stop button disappears with the replay's end, so the title gets the focus.
        <ReplayButtons replay={replay} onRest={onRest} onStop={() => onStop().then(() => title.current?.focus())} />
      ) : null}
      {!isRunning && failed > 0 ? (
        <ReplayPreview title={texts.showFailed} load={() => failedRecords(path, replay)} />
      ) : null}
    </li>
  );
}

interface ReplayTitleProps {
  readonly replay: ReplayAnswer;
  readonly titleRef: Ref<HTMLElement>;
}

function ReplayTitle({ replay, titleRef }: ReplayTitleProps) {
  const { id, state, startedAt, startedBy, endedAt, transforms } = replay;
  return (
    <p>
      <strong ref={titleRef} tabIndex={-1}>
        {texts.replayTitle(id)}
      </strong>{' '}
      <span role="status" class={`badge ${state.toLowerCase()}`}>
        {texts.states[state]}
      </span>{' '}
      <span class="quiet">
        {texts.startedBy(shortTime(startedAt), startedBy)}
        {endedAt === null ? '' : `, ${texts.ended(shortTime(endedAt))}`}
        {transforms === null ? '' : `, ${texts.through(transforms)}`}
      </span>
    </p>
  );
}

function ReplayButtons({ replay, onStop, onRest }: Pick<ReplayItemProps, 'replay' | 'onStop' | 'onRest'>) {
  const { isBusy, run } = useAction();
  const { id, state } = replay;
  const rest = restOf(replay);
  return (
    <>
      {state === 'RUNNING' ? (
        <Button aria-label={texts.stopReplay(id)} disabled={isBusy} onClick={() => run(onStop)}>
          {isBusy ? texts.stopping : texts.stop}
        </Button>
      ) : null}
      {rest === undefined ? null : (
        <Button aria-label={texts.replayRestOf(id)} onClick={() => onRest(rest)}>
          {texts.replayRest}
        </Button>
      )}
    </>
  );
}

async function failedRecords(path: string, replay: ReplayAnswer): Promise<PreviewedDeadLettersAnswer> {
  const body = { selection: failedAgain(replay) };
  const answer = await request<PreviewedDeadLettersAnswer>('POST', `${path}/preview`, body);
  return { ...answer, records: answer.records.filter(({ letter }) => letter.attempt > 0) };
}
