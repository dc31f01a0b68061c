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
  /** The paragraph that gets the focus after a configuration was restored. */
  readonly report: RefObject<HTMLParagraphElement | null>;
  /** Opens the dialog. `opener`: the button that gets the focus back if the user cancels the dialog. */
  readonly restore: (wanted: Restored, opener: HTMLElement) => void;
  /** The dialog; `undefined` while it is closed. */
  readonly dialog: ComponentChildren;
}

/** Restores configurations after a dialog that shows the changes. `tasks`: the current number of tasks of the connector. */
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
