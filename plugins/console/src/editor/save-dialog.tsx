import { useEffect, useRef } from 'preact/hooks';
import { TitledTable } from '../common/titled-table.tsx';
import { texts } from '../texts/editor.ts';
import type { KeyChange } from './config-difference.ts';

interface SaveDialogProps {
  readonly name: string;
  readonly changes: readonly KeyChange[];
  /** What starts again. */
  readonly effect: string;
  /** Secrets that go to another address than before; empty: none do. */
  readonly sentAlong: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSave: () => void;
}

/** The difference before it is saved, and what it does. */
export function SaveDialog({ name, changes, effect, sentAlong, isOpen, onClose, onSave }: SaveDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} class="save" aria-labelledby="save-title" onClose={onClose}>
      <h2 id="save-title">{texts.saveTitle(name)}</h2>
      <TitledTable label={texts.changes(changes.length)} titles={texts.changeTitles}>
        {changes.map((change) => (
          <tr key={change.key} class={change.kind}>
            <th scope="row">
              <code>{change.key}</code>
            </th>
            <td>{texts.kinds[change.kind]}</td>
            <td>{shownValue(change, change.before, change.kind !== 'added')}</td>
            <td>{shownValue(change, change.after, change.kind !== 'removed')}</td>
          </tr>
        ))}
      </TitledTable>
      {sentAlong === '' ? null : <p class="problem">{sentAlong}</p>}
      <p>{effect}</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
        <button type="button" class="primary" onClick={onSave}>
          {texts.saveNow}
        </button>
      </div>
    </dialog>
  );
}

function shownValue({ isSecret }: KeyChange, value: string | null, isThere: boolean) {
  if (!isThere) return <span class="quiet">{texts.absent}</span>;
  return isSecret ? <span class="quiet">{texts.secretShown}</span> : <code>{value ?? 'null'}</code>;
}
