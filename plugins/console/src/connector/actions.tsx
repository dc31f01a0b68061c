import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { texts } from '../texts/connector.ts';

export interface ActionsProps {
  readonly name: string;
  readonly report: (problem: string) => void;
}

const ACTIONS = [
  { method: 'PUT', to: '/pause', title: texts.pause },
  { method: 'PUT', to: '/resume', title: texts.resume },
  { method: 'PUT', to: '/stop', title: texts.stop },
  { method: 'POST', to: '/restart?includeTasks=true&onlyFailed=true', title: texts.restartFailed },
  { method: 'POST', to: '/restart?includeTasks=true', title: texts.restart },
] as const;

/** What can be done with a connector. */
export function Actions({ name, report }: ActionsProps) {
  const path = connectorPath(name);
  return (
    <div class="bulk" role="toolbar" aria-label={name}>
      {ACTIONS.map(({ method, to, title }) => (
        <button key={to} type="button" onClick={() => void send(method, path + to, report)}>
          {title}
        </button>
      ))}
    </div>
  );
}

/** Sends a request that has no answer to show; reports what is wrong, or an empty text. */
export async function send(method: string, path: string, report: (problem: string) => void): Promise<void> {
  try {
    await request(method, path);
    report('');
    await refresh();
  } catch (error) {
    report((error as Error).message);
  }
}
