import type { Health } from '../common/answers.ts';
import { skewMs } from '../common/fleet-store.ts';
import { texts } from '../texts/connector.ts';
import { useNow } from '../common/now.ts';
import { alike, restartText } from './restart-text.ts';

const MAX_SHOWN = 3;

/** Shows automatic restarts: which tasks, when, and why. */
export function RestartNotice({ restarts, summary }: Pick<Health, 'restarts' | 'summary'>) {
  const now = useNow(restarts.some(({ state }) => state === 'WAITING')) - skewMs.value;
  if (restarts.length === 0) return null;
  const groups = alike(restarts);
  return (
    <ul class="restarts" aria-label={texts.restarts}>
      {groups.slice(0, MAX_SHOWN).map(({ first, others }) => {
        const { what, how, why } = restartText(first, now, summary);
        return (
          <li key={first.task}>
            <strong>{what}</strong>
            {how === '' ? '' : <span> ({how})</span>}
            <span class="quiet">
              {why} {others.length === 0 ? '' : texts.likewise(others)}
            </span>
          </li>
        );
      })}
      {groups.length > MAX_SHOWN ? <li class="quiet">{texts.more(groups.length - MAX_SHOWN)}</li> : null}
    </ul>
  );
}
