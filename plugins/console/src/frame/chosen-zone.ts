import { zone, type Zone } from '../common/time.ts';

const KEY = 'sluice.zone';

/** Restores the zone that the user has chosen earlier in this browser. */
export function restoreZone(): void {
  try {
    if (localStorage.getItem(KEY) === 'utc') zone.value = 'utc';
  } catch {
    // The browser does not allow local storage, so the local zone is used.
  }
}

export function chooseZone(chosen: Zone): void {
  zone.value = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // The browser does not allow local storage, so the choice lasts until the page is closed.
  }
}
