import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { ConsoleValidation } from '../common/answers.ts';
import { texts } from '../texts/editor.ts';
import { valueIn, withoutKey, withValue, type Entry } from './config-document.ts';
import { ConfigField } from './config-field.tsx';
import { fieldGroups, type Field } from './config-form.ts';

export interface ConfigFormProps {
  readonly entries: readonly Entry[];
  /** What the document was at first, for the place of keys. */
  readonly order: readonly string[];
  readonly validation: ConsoleValidation;
  readonly stored: readonly Entry[];
  readonly mark: string;
  /** Errors of keys that are not in the document. */
  readonly showsMissing: boolean;
  readonly isReadOnly: boolean;
  readonly onChange: (entries: readonly Entry[]) => void;
}

/** The document as a form, made of what the worker says of its options. */
export function ConfigForm(props: ConfigFormProps) {
  const { entries, order, validation, stored, mark, isReadOnly, onChange } = props;
  const first = useMemo(() => new Set(order), [order]);
  const groups = fieldGroups(validation, entries, first);
  const fields = (shown: readonly Field[]) =>
    shown.map((field) => {
      const value = valueIn(entries, field.key);
      return (
        <ConfigField
          key={field.key}
          field={field}
          value={value}
          mark={mark}
          showsErrors={props.showsMissing || value !== undefined}
          isReadOnly={isReadOnly}
          onChange={(next) => {
            // What was typed over a stored secret is taken back.
            const isKept = next === undefined && value !== mark && valueIn(stored, field.key) === mark;
            const kept = isKept ? mark : next;
            onChange(kept === undefined ? withoutKey(entries, field.key) : withValue(entries, field.key, kept, order));
          }}
        />
      );
    });
  return (
    <form
      class="config-form"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      {groups.map(({ title, fields: main, advanced, isOpen, isAdvancedOpen }) => (
        <Fold key={title} title={title} opens={isOpen} className="options">
          {title === texts.otherKeys ? <p class="quiet">{texts.otherKeysHint}</p> : null}
          <div class="fields">{fields(main)}</div>
          {advanced.length === 0 ? null : (
            <Fold title={texts.advanced(advanced.length)} opens={isAdvancedOpen} className="advanced">
              <div class="fields">{fields(advanced)}</div>
            </Fold>
          )}
        </Fold>
      ))}
      {isReadOnly ? null : <AddKey entries={entries} onChange={onChange} />}
    </form>
  );
}

interface FoldProps {
  readonly title: string;
  /** Whenever this becomes true. */
  readonly opens: boolean;
  readonly className: string;
  readonly children: ComponentChildren;
}

function Fold({ title, opens, className, children }: FoldProps) {
  const [isOpen, setOpen] = useState(opens);
  useEffect(() => {
    if (opens) setOpen(true);
  }, [opens]);
  return (
    <details
      class={className}
      open={isOpen}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary>{title}</summary>
      {children}
    </details>
  );
}

function AddKey({ entries, onChange }: Pick<ConfigFormProps, 'entries' | 'onChange'>) {
  const [key, setKey] = useState('');
  const name = key.trim();
  const isUsable = name !== '' && valueIn(entries, name) === undefined;
  const add = (): void => {
    if (!isUsable) return;
    onChange(withValue(entries, name, ''));
    setKey('');
  };
  return (
    <div class="add-key">
      <label>
        {texts.addKeyLabel}
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={key}
          onInput={({ currentTarget }) => {
            setKey(currentTarget.value);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') add();
          }}
        />
      </label>
      <button type="button" disabled={!isUsable} onClick={add}>
        {texts.addKey}
      </button>
    </div>
  );
}
