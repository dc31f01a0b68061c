import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConnectorStateAnswer } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { useAction, type Action } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { Menu } from '../kit/menu.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/connector.ts';
import { restartOutcome, type Sample } from './action-outcome.ts';
import { deleteConnector } from './deletion.ts';
import type { PartProps } from './health.ts';
import { isFutile } from './restart-text.ts';

export interface ActionsProps {
  readonly name: string;
  readonly run: Action['run'];
}

type Kind = 'pause' | 'resume' | 'stop' | 'restartFailed' | 'restart' | 'delete';

const REQUESTS: Readonly<Record<Exclude<Kind, 'delete'>, readonly [method: string, path: string]>> = {
  pause: ['PUT', '/pause'],
  resume: ['PUT', '/resume'],
  stop: ['PUT', '/stop'],
  restartFailed: ['POST', '/restart?includeTasks=true&onlyFailed=true'],
  restart: ['POST', '/restart?includeTasks=true'],
};
/** Actions that the user must confirm, because they interrupt the connector. */
const ASKED: ReadonlySet<Kind> = new Set(['pause', 'stop', 'restart', 'delete']);

/** The actions that are offered for a verdict. The first one becomes the button, and the others are in the menu. */
function actionsOf(verdict: string): readonly Kind[] {
  if (verdict === 'STOPPED') return ['resume', 'delete'];
  if (verdict === 'PAUSED') return ['resume', 'restart', 'stop', 'delete'];
  if (verdict === 'FAILED') return ['restartFailed', 'restart', 'pause', 'stop', 'delete'];
  return ['restart', 'pause', 'stop', 'delete'];
}

/** Shows the most useful action on a connector as a button, other actions in a menu, and the result of the last action. */
export function Actions({ name, health }: PartProps) {
  const { isBusy, problem, run } = useAction();
  const [asked, setAsked] = useState<Kind>('pause');
  const [isOpen, setOpen] = useState(false);
  const { outcome, watch } = useOutcome(name);
  const act = (kind: Kind): Promise<void> =>
    run(async () => {
      setOpen(false);
      if (kind === 'delete') await deleteConnector(name);
      else await watch(kind, REQUESTS[kind]);
    });
  const press = (kind: Kind): unknown => {
    if (!ASKED.has(kind)) return act(kind);
    setAsked(kind);
    setOpen(true);
    return undefined;
  };
  const [first, ...others] = actionsOf(health.verdict);
  const isUrgent = first === 'resume' || (first === 'restartFailed' && !isFutile(health.restarts));
  return (
    <div class="actions">
      <div class="bulk" role="toolbar" aria-label={name}>
        {first === undefined ? null : (
          <Button class={isUrgent ? 'primary' : ''} disabled={isBusy} onClick={() => press(first)}>
            {texts.actionTitles[first]}
          </Button>
        )}
        <Menu title={texts.menu} label={texts.moreActions}>
          {others.map((kind) => (
            <Button key={kind} class={kind === 'delete' ? 'danger' : ''} disabled={isBusy} onClick={() => press(kind)}>
              {texts.actionTitles[kind]}
            </Button>
          ))}
        </Menu>
      </div>
      <p role="status" class="outcome-text">
        {outcome}
      </p>
      <Problem text={problem} />
      <ConfirmDialog
        title={texts.confirmTitle(texts.actionTitles[asked], name)}
        confirm={texts.actionTitles[asked]}
        isDanger={asked === 'delete'}
        isOpen={isOpen}
        onConfirm={() => act(asked)}
        onClose={() => setOpen(false)}
      >
        <p>{asked === 'restartFailed' || asked === 'resume' ? '' : texts.willHappen[asked](health.tasks.length)}</p>
      </ConfirmDialog>
    </div>
  );
}

const EVERY_MS = 250;
const MAX_MS = 20_000;

/** Runs an action, and returns its result as a text; the result of a restart is polled. */
function useOutcome(name: string) {
  const [outcome, setOutcome] = useState('');
  const round = useRef(0);
  useEffect(
    () => () => {
      round.current = -1;
    },
    [],
  );
  const path = connectorPath(name);
  const status = () => request<ConnectorStateAnswer>('GET', `${path}/status`);
  const watch = async (kind: Exclude<Kind, 'delete'>, [method, to]: readonly [string, string]): Promise<void> => {
    const own = (round.current += 1);
    const before = await status();
    const beganAt = performance.now();
    await send(method, path + to);
    setOutcome(texts.begun[kind]);
    if (kind !== 'restart' && kind !== 'restartFailed') return;
    void followRestart(before, beganAt, own);
  };
  const followRestart = async (before: Sample['status'], beganAt: number, own: number): Promise<void> => {
    const samples: Sample[] = [];
    while (round.current === own && performance.now() - beganAt < MAX_MS) {
      const found = await status().catch(() => undefined);
      if (found !== undefined) samples.push({ ms: performance.now() - beganAt, status: found });
      const result = restartOutcome(before, samples);
      if (round.current === own && result !== undefined) {
        setOutcome(result);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  };
  return { outcome, watch };
}

/** Sends a request, ignores the response body, and loads all rows again. */
export async function send(method: string, path: string): Promise<void> {
  await request(method, path);
  await refresh();
}
