import { useMemo, useState } from 'preact/hooks';
import type { ConsoleValidation } from '../common/answers.ts';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { Fold } from '../kit/fold.tsx';
import { Form } from '../kit/form.tsx';
import { texts } from '../texts/editor.ts';
import { valueIn, withoutKey, withValue, type Entry } from './config-document.ts';
import { ConfigField } from './config-field.tsx';
import { fieldGroups, type Field, type FieldGroup } from './config-form.ts';

interface ConfigFieldsProps {
  readonly fields: readonly Field[];
  readonly entries: readonly Entry[];
  /** The keys of the initial document. New keys are inserted in this order. */
  readonly order: readonly string[];
  readonly stored: readonly Entry[];
  readonly mark: string;
  /** Whether to show errors of keys that are missing in the document. */
  readonly showsMissing: boolean;
  readonly isReadOnly: boolean;
  readonly onChange: (entries: readonly Entry[]) => void;
}

/** Shows these options of the document as fields. */
export function ConfigFields(props: ConfigFieldsProps) {
  const { fields, entries, order, stored, mark, showsMissing, isReadOnly, onChange } = props;
  const change = (key: string, next: string | undefined): void => {
    // If the user removes a new secret that replaced a stored one, the stored secret is restored.
    const isKept = next === undefined && valueIn(entries, key) !== mark && valueIn(stored, key) === mark;
    const kept = isKept ? mark : next;
    onChange(kept === undefined ? withoutKey(entries, key) : withValue(entries, key, kept, order));
  };
  return (
    <div class="fields">
      {fields.map((field) => {
        const value = valueIn(entries, field.key);
        return (
          <ConfigField
            key={field.key}
            field={field}
            value={value}
            mark={mark}
            showsErrors={showsMissing || value !== undefined}
            isReadOnly={isReadOnly}
            onChange={(next) => change(field.key, next)}
          />
        );
      })}
    </div>
  );
}

export interface ConfigFormProps extends Omit<ConfigFieldsProps, 'fields'> {
  readonly validation: ConsoleValidation;
  /** Options that the page shows elsewhere. */
  readonly apart?: readonly string[];
}

/** Shows the document as a form, which is built from the worker's description of the options. */
export function ConfigForm(props: ConfigFormProps) {
  const { entries, order, validation, isReadOnly, onChange, apart } = props;
  const [wanted, setWanted] = useState('');
  const first = useMemo(() => new Set(order), [order]);
  const fields = (shown: readonly Field[]) => <ConfigFields {...props} fields={shown} />;
  const groups = fieldGroups(validation, entries, first, apart);
  const found = foundFields(groups, wanted);
  return (
    <Form class="config-form">
      <TextField label={texts.findOption} type="search" value={wanted} onInput={setWanted} />
      {wanted.trim() === '' ? null : found.length === 0 ? <p class="empty">{texts.noOption}</p> : fields(found)}
      {(wanted.trim() === '' ? groups : []).map(({ title, fields: main, advanced, isOpen, isAdvancedOpen }) => (
        <Fold key={title} title={title} opens={isOpen} class="options">
          {title === texts.otherKeys ? <p class="quiet">{texts.otherKeysHint}</p> : null}
          {fields(main)}
          {advanced.length === 0 ? null : (
            <Fold title={texts.advanced(advanced.length)} opens={isAdvancedOpen} class="advanced">
              {fields(advanced)}
            </Fold>
          )}
        </Fold>
      ))}
      {isReadOnly ? null : <AddKey entries={entries} onChange={onChange} />}
    </Form>
  );
}

/** The options of all groups whose name or documentation contains the text. */
function foundFields(groups: readonly FieldGroup[], wanted: string): readonly Field[] {
  const text = wanted.trim().toLowerCase();
  return groups
    .flatMap(({ fields, advanced }) => [...fields, ...advanced])
    .filter(({ key, label, documentation }) => `${key} ${label} ${documentation}`.toLowerCase().includes(text));
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
      <TextField
        label={texts.addKeyLabel}
        autocomplete="off"
        spellcheck={false}
        value={key}
        onInput={setKey}
        onKeyDown={({ key: pressed }) => pressed === 'Enter' && add()}
      />
      <Button disabled={!isUsable} onClick={add}>
        {texts.addKey}
      </Button>
    </div>
  );
}
