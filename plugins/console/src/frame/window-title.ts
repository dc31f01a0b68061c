import { useEffect } from 'preact/hooks';
import type { FleetRow } from '../common/answers.ts';
import { worker } from '../common/fleet-store.ts';
import alarm from '../icon-alarm.svg';
import icon from '../icon.svg';
import { windowTitle } from './title-text.ts';

const ALARMING: ReadonlySet<string> = new Set(['FAILED', 'STALLED']);

/** Sets the title and the icon of the window. */
export function useWindow(view: string, rows: readonly FleetRow[]): void {
  const broken = rows.filter(({ verdict }) => ALARMING.has(verdict)).length;
  const environment = worker.value?.title ?? '';
  useEffect(() => {
    document.title = windowTitle(view, environment, broken);
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    const address = broken === 0 ? icon : alarm;
    if (link !== null && link.getAttribute('href') !== address) link.href = address;
  }, [view, environment, broken]);
}
