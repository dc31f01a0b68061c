import { zone, type Zone } from '../common/time.ts';

const KEY = 'sluice.zone';

/** The zone that the user has chosen in this browser earlier. */
export function restoreZone(): void {
  try {
    if (localStorage.getItem(KEY) === 'utc') zone.value = 'utc';
  } catch {
    // A browser that stores nothing has the local zone.
  }
}

export function chooseZone(chosen: Zone): void {
  zone.value = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // The choice is kept until the page is closed.
  }
}
