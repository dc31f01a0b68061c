import { useRef, useState } from 'preact/hooks';
import type { ComponentChildren, RefObject } from 'preact';
import { RestoreDialog } from './restore-dialog.tsx';

interface Restored {
  readonly name: string;
  readonly n: number;
}

interface Restoring {
  /** The change that was restored last. */
  readonly done: Restored | undefined;
  /** Has the focus when something was restored. */
  readonly report: RefObject<HTMLParagraphElement | null>;
  /** `opener`: the button that has the focus again when nothing was restored. */
  readonly restore: (wanted: Restored, opener: HTMLElement) => void;
  /** The dialog while it is open. */
  readonly dialog: ComponentChildren;
}

/** Restores configurations, after a dialog that shows what that changes. `tasks`: how many the connector has now. */
export function useRestoring(tasks: number, onDone: () => void): Restoring {
  const [wanted, setWanted] = useState<Restored | undefined>();
  const [done, setDone] = useState<Restored | undefined>();
  const opener = useRef<HTMLElement | null>(null);
  const report = useRef<HTMLParagraphElement>(null);
  const end = (isDone: boolean): void => {
    if (isDone) {
      setDone(wanted);
      onDone();
    }
    setWanted(undefined);
    (isDone ? report : opener).current?.focus();
  };
  const restore = (next: Restored, button: HTMLElement): void => {
    opener.current = button;
    setWanted(next);
  };
  const key = wanted && `${wanted.name} ${String(wanted.n)}`;
  return { done, report, restore, dialog: wanted && <RestoreDialog key={key} {...wanted} tasks={tasks} onEnd={end} /> };
}
