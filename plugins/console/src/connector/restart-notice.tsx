import { skewMs } from '../common/fleet-store.ts';
import { texts } from '../texts/connector.ts';
import type { Health } from './health.ts';
import { useNow } from '../common/now.ts';
import { restartText } from './restart-text.ts';

const MAX_SHOWN = 3;

/** What starts again by itself, when, and why it has to. */
export function RestartNotice({ restarts, summary }: Pick<Health, 'restarts' | 'summary'>) {
  const now = useNow(restarts.some(({ state }) => state === 'WAITING')) - skewMs.value;
  if (restarts.length === 0) return null;
  return (
    <ul class="restarts" aria-label={texts.restarts}>
      {restarts.slice(0, MAX_SHOWN).map((restart) => {
        const { what, how, why } = restartText(restart, now, summary);
        return (
          <li key={restart.task}>
            <strong>{what}</strong>
            {how === '' ? '' : <span> ({how})</span>}
            <span class="quiet">{why}</span>
          </li>
        );
      })}
      {restarts.length > MAX_SHOWN ? <li class="quiet">{texts.more(restarts.length - MAX_SHOWN)}</li> : null}
    </ul>
  );
}
