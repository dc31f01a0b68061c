/** A long name that may wrap after each of its parts. */
export function Broken({ text }: { readonly text: string }) {
  return <>{text.split(/(?<=[._-])/).map((part, index) => [index === 0 ? null : <wbr key={index} />, part])}</>;
}
