import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import type { Action } from '../kit/action.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/connector.ts';

export interface ActionsProps {
  readonly name: string;
  readonly run: Action['run'];
}

const ACTIONS = [
  { method: 'PUT', to: '/pause', title: texts.pause },
  { method: 'PUT', to: '/resume', title: texts.resume },
  { method: 'PUT', to: '/stop', title: texts.stop },
  { method: 'POST', to: '/restart?includeTasks=true&onlyFailed=true', title: texts.restartFailed },
  { method: 'POST', to: '/restart?includeTasks=true', title: texts.restart },
] as const;

/** The buttons that pause, resume, stop and restart a connector. */
export function Actions({ name, run }: ActionsProps) {
  return (
    <div class="bulk" role="toolbar" aria-label={name}>
      {ACTIONS.map(({ method, to, title }) => (
        <Button key={to} onClick={() => run(() => send(method, connectorPath(name) + to))}>
          {title}
        </Button>
      ))}
    </div>
  );
}

/** Sends a request whose answer is not shown. */
export async function send(method: string, path: string): Promise<void> {
  await request(method, path);
  await refresh();
}
