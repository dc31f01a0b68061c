import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { texts } from '../texts/frame.ts';
import { Button } from './button.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly class?: string;
  /** The title of the confirm button; `undefined`: the dialog has no such button. */
  readonly confirm: string | undefined;
  readonly isDisabled?: boolean;
  /** Whether the confirmed action is destructive. */
  readonly isDanger?: boolean;
  readonly onConfirm: () => unknown;
  /** Called after the dialog was closed in any way, for instance with Escape. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog that explains an action and asks the user to confirm it. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, isOpen, class: className, confirm, onConfirm, onClose, children } = props;
  const { isDisabled = false, isDanger = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} class={className} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
      <div class="buttons">
        <Button onClick={() => dialog.current?.close()}>{texts.cancel}</Button>
        {confirm === undefined ? null : (
          <Button class={isDanger ? 'primary danger' : 'primary'} disabled={isDisabled} onClick={onConfirm}>
            {confirm}
          </Button>
        )}
      </div>
    </dialog>
  );
}

interface SheetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal window. It is open as long as it is rendered. Escape, or a click outside the window, closes it. */
export function Sheet({ title, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-label={title}
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
