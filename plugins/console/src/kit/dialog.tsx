import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { texts } from '../texts/frame.ts';
import { Button } from './button.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly class?: string;
  /** The button that does it; `undefined`: there is nothing to confirm. */
  readonly confirm: string | undefined;
  readonly isDisabled?: boolean;
  /** The button destroys something. */
  readonly isDanger?: boolean;
  readonly onConfirm: () => unknown;
  /** Called when the dialog was closed, however that was done. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Says what will happen, and asks before it does. */
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

/** A window above the page that is open while it exists. Escape, or a click beside it, closes it. */
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
