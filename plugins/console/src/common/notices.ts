import { signal } from '@preact/signals';

/** A message about the result of a user's action, shown in whichever view is open. */
interface Notice {
  readonly text: string;
  /** A button that undoes the reported action or continues it. */
  readonly action?: { readonly title: string; readonly run: () => unknown };
}

const SHOWN_MS = 20_000;

export const notices = signal<readonly Notice[]>([]);

/** Shows a notice for some seconds. */
export function notify(notice: Notice): void {
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(() => dismiss(notice), SHOWN_MS);
}

export function dismiss(notice: Notice): void {
  notices.value = notices.value.filter((each) => each !== notice);
}
