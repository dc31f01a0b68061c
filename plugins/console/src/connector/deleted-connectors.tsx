import type { DeletedConnectors as DeletedAnswer } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { isWritable } from '../common/fleet-store.ts';
import { connectorAddress } from '../common/addresses.ts';
import { dateTime } from '../common/time.ts';
import { Button } from '../kit/button.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { texts } from '../texts/history.ts';
import './config-history.css';
import { useRestoring } from './restoring.tsx';

/** Lists deleted connectors that have a history, the most recently deleted first, and can restore them. */
export function DeletedConnectors() {
  const loaded = useLoaded('deleted', () => request<DeletedAnswer>('GET', '/ui/deleted-connectors'));
  const { done, report, restore, dialog } = useRestoring(0, loaded.reload);
  return (
    <>
      <p role="status" ref={report} tabIndex={-1}>
        {done === undefined ? null : <a href={connectorAddress(done.name)}>{texts.created(done.name)}</a>}
      </p>
      <Async of={loaded}>
        {({ connectors, total }) => (
          <>
            {connectors.length === 0 ? <p>{texts.noDeleted}</p> : null}
            <ul class="deleted">
              {connectors.map((deleted) => (
                <DeletedItem
                  key={deleted.name}
                  deleted={deleted}
                  onRestore={(n, button) => restore({ name: deleted.name, n }, button)}
                />
              ))}
            </ul>
            {total > connectors.length ? <p class="quiet">{texts.more(total - connectors.length)}</p> : null}
          </>
        )}
      </Async>
      {dialog}
    </>
  );
}

interface DeletedItemProps {
  readonly deleted: DeletedAnswer['connectors'][number];
  readonly onRestore: (n: number, button: HTMLElement) => void;
}

function DeletedItem({ deleted: { name, at, restores }, onRestore }: DeletedItemProps) {
  return (
    <li>
      <a href={connectorAddress(name, 'history')}>{name}</a>
      <span class="quiet">{texts.deletedAt(dateTime(at))}</span>
      {restores === null ? <span class="quiet">{texts.notRestorable}</span> : null}
      {restores === null || !isWritable.value ? null : (
        <Button
          aria-label={texts.restoreConnector(name)}
          onClick={({ currentTarget }) => onRestore(restores, currentTarget)}
        >
          {texts.restore}
        </Button>
      )}
    </li>
  );
}
