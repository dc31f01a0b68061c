import { useState } from 'preact/hooks';
import { rows } from '../common/fleet-store.ts';
import type { KeyWindow } from '../common/keys.ts';
import { clusterAddress, connectorAddress, CREATE_ADDRESS, fleetAddress, SQL_ADDRESS } from '../common/addresses.ts';
import { VerdictBadge } from '../common/verdict-badge.tsx';
import { Sheet } from '../kit/dialog.tsx';
import { texts } from '../texts/keys.ts';
import { found, type Place } from './palette.ts';
import './key-window.css';

interface KeyWindowProps {
  readonly window: KeyWindow;
  readonly onClose: () => void;
}

/** The command palette, or the list of keys. */
export function KeyWindowView({ window, onClose }: KeyWindowProps) {
  return window === 'help' ? <Help onClose={onClose} /> : <Palette onClose={onClose} />;
}

function Help({ onClose }: Pick<KeyWindowProps, 'onClose'>) {
  return (
    <Sheet title={texts.keyHelp} onClose={onClose}>
      <dl class="keys">
        {texts.keyTexts.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

const VIEWS: readonly Place[] = [
  { title: texts.connectors, address: fleetAddress() },
  { title: texts.create, address: CREATE_ADDRESS },
  { title: texts.sql, address: SQL_ADDRESS },
  { title: texts.cluster, address: clusterAddress() },
];

function Palette({ onClose }: Pick<KeyWindowProps, 'onClose'>) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const connectors = rows.value.map(({ name, verdict }) => ({ title: name, verdict, address: connectorAddress(name) }));
  const shown = found([...VIEWS, ...connectors], text);
  const at = Math.min(chosen, shown.length - 1);
  const go = (address: string): void => {
    onClose();
    location.hash = address;
  };
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setChosen(Math.max(0, Math.min(shown.length - 1, at + by)));
    }
    const place = shown[at];
    if (event.key === 'Enter' && place !== undefined) go(place.address);
  };
  return (
    <Sheet title={texts.palette} onClose={onClose}>
      <input
        type="search"
        role="combobox"
        list={undefined}
        aria-label={texts.palette}
        aria-expanded="true"
        aria-controls="palette-places"
        aria-activedescendant={at < 0 ? undefined : `place-${String(at)}`}
        placeholder={texts.paletteHint}
        value={text}
        onKeyDown={move}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
        }}
      />
      <ul id="palette-places" role="listbox" aria-label={texts.palette} class="places">
        {shown.map(({ title, address, verdict }, index) => (
          <li
            key={address}
            id={`place-${String(index)}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(address)}
          >
            <span>{title}</span>
            {verdict === undefined ? null : <VerdictBadge verdict={verdict} />}
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p class="quiet">{texts.nothingFound}</p> : null}
    </Sheet>
  );
}
