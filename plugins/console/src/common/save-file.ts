/** Saves a CSV file as a download. */
export function saveCsv(file: string, csv: string): void {
  // The byte order mark makes spreadsheets read the file as UTF-8.
  saveFile(file, `\ufeff${csv}`, 'text/csv');
}

/** Saves a text as a download. */
export function saveFile(file: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = address;
  link.download = file;
  link.click();
  URL.revokeObjectURL(address);
}
