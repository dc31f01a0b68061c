import { connectorPath, request } from '../common/api.ts';
import { refresh } from '../common/fleet-store.ts';
import { texts } from '../texts/connector.ts';

export interface ActionsProps {
  readonly name: string;
  readonly report: (problem: string) => void;
}

/** What can be done with a connector. */
export function Actions({ name, report }: ActionsProps) {
  const path = connectorPath(name);
  const act = (method: string, to: string) => () => void send(method, path + to, report);
  return (
    <div class="bulk" role="toolbar" aria-label={name}>
      <button type="button" onClick={act('PUT', '/pause')}>
        {texts.pause}
      </button>
      <button type="button" onClick={act('PUT', '/resume')}>
        {texts.resume}
      </button>
      <button type="button" onClick={act('PUT', '/stop')}>
        {texts.stop}
      </button>
      <button type="button" onClick={act('POST', '/restart?includeTasks=true&onlyFailed=true')}>
        {texts.restartFailed}
      </button>
      <button type="button" onClick={act('POST', '/restart?includeTasks=true')}>
        {texts.restart}
      </button>
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
