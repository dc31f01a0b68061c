import { texts } from '../texts/frame.ts';
import { silentWorkers, skewMs, worker } from './fleet-store.ts';
import { useNow } from './now.ts';
import { silenceText } from './silence-text.ts';

const MAX_SHOWN = 3;

/** Lists the workers that do not answer, how long they have been silent, and when their tasks will move. */
export function Silence() {
  const all = silentWorkers.value;
  const now = useNow(all.length > 0) - skewMs.value;
  if (all.length === 0) return null;
  return (
    <ul class="silence" aria-label={texts.silentWorkers}>
      {all.slice(0, MAX_SHOWN).map((each) => (
        <li key={each.worker}>{silenceText(each, now, worker.value?.lostWorkWaitsMs ?? 0)}</li>
      ))}
      {all.length > MAX_SHOWN ? <li>{texts.moreWorkers(all.length - MAX_SHOWN)}</li> : null}
    </ul>
  );
}
