import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { failure, otherWorkers, updatedAt, worker } from '../common/fleet-store.ts';
import type { KeyWindow } from '../common/keys.ts';
import { useNow } from '../common/now.ts';
import { clockTime, durationText, zone, zoneText } from '../common/time.ts';
import { Button } from '../kit/button.tsx';
import { texts } from '../texts/frame.ts';
import { chooseZone } from './chosen-zone.ts';

/** Data older than this is shown as stale. Updates arrive every five seconds. */
const STALE_MS = 20_000;
const MAX_OTHERS = 5;

/** True if the shown data may be outdated: `failure` is set, or the last update is older than STALE_MS. */
export const isLost = signal(false);

/** The right side of the page header: buttons for the palette, the keys and the time zone, and the age of the data. */
export function Side({ openWindow }: { readonly openWindow: (window: KeyWindow) => void }) {
  const now = useNow();
  const age = updatedAt.value === undefined ? undefined : Math.max(0, now - updatedAt.value);
  useEffect(() => {
    isLost.value = failure.value !== undefined || (age ?? 0) > STALE_MS;
  });
  const about = worker.value === undefined ? undefined : `${worker.value.id} · ${worker.value.version}`;
  return (
    <div class="side">
      <span class="wide">
        <Button onClick={() => openWindow('palette')}>{texts.find}</Button>
      </span>
      <span class="wide">
        <Button onClick={() => openWindow('help')}>{texts.keys}</Button>
      </span>
      <Button title={texts.switchZone} onClick={() => chooseZone(zone.value === 'utc' ? 'local' : 'utc')}>
        {texts.zoneOf(zoneText())}
      </Button>
      {age === undefined ? null : (
        <span class="freshness" title={about}>
          {age > STALE_MS ? texts.old(durationText(age)) : texts.live(Math.round(age / 1000))}
        </span>
      )}
    </div>
  );
}

/** A banner with links to other workers, shown while `isLost` is true. Screen readers announce it once. */
export function Lost() {
  const { value: problem = 'lost' } = failure;
  const text = problem === 'lost' ? texts.lost : problem;
  if (!isLost.value) return null;
  return (
    <p class="banner" role="alert">
      {updatedAt.value === undefined ? text : texts.lostSince(text, clockTime(updatedAt.value))}
      {otherWorkers.value.length === 0 ? null : ` ${texts.openElsewhere}`}
      {otherWorkers.value.slice(0, MAX_OTHERS).map(({ worker_id: id, url }) => (
        <a key={id} href={`${url.replace(/\/$/, '')}/ui${location.hash}`}>
          {id}
        </a>
      ))}
    </p>
  );
}
