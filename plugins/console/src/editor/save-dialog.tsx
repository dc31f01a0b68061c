import { ConfirmDialog } from '../kit/dialog.tsx';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/editor.ts';
import type { KeyChange } from './config-difference.ts';

interface SaveDialogProps {
  readonly name: string;
  readonly changes: readonly KeyChange[];
  /** A sentence that says what restarts. */
  readonly effect: string;
  /** A text about secrets that will be sent to a changed address; empty if there are none. */
  readonly sentAlong: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSave: () => void;
}

/** Shows the changes and their effect before they are saved. */
export function SaveDialog({ name, changes, effect, sentAlong, isOpen, onClose, onSave }: SaveDialogProps) {
  return (
    <ConfirmDialog
      title={texts.saveTitle(name)}
      class="save"
      isOpen={isOpen}
      confirm={texts.saveNow}
      onConfirm={onSave}
      onClose={onClose}
    >
      <Table label={texts.changes(changes.length)} titles={texts.changeTitles}>
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
      </Table>
      {sentAlong === '' ? null : <p class="problem">{sentAlong}</p>}
      <p>{effect}</p>
    </ConfirmDialog>
  );
}

function shownValue({ isSecret }: KeyChange, value: string | null, isThere: boolean) {
  if (!isThere) return <span class="quiet">{texts.absent}</span>;
  return isSecret ? <span class="quiet">{texts.secretShown}</span> : <code>{value ?? 'null'}</code>;
}
