// Package clinic serves patient records to the doctors who treat them.
package clinic

import (
	"context"
	"encoding/json"
	"net/http"
)

// Record is the part of a patient file that doctors edit.
type Record struct {
	Patient string `json:"patient"`
	Doctor  string `json:"-"`
	Notes   string `json:"notes"`
}

// Store keeps records.
type Store interface {
	Load(ctx context.Context, patient string) (Record, error)
	Save(ctx context.Context, record Record) error
}

type doctorKey struct{}

// Handler needs the sign-in middleware, which puts the doctor into the context.
type Handler struct {
	Store Store
}

// Update answers PUT /records/{patient}.
func (h Handler) Update(w http.ResponseWriter, r *http.Request) {
	doctor, ok := r.Context().Value(doctorKey{}).(string)
	if !ok || doctor == "" {
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	}
	record, err := h.Store.Load(r.Context(), r.PathValue("patient"))
	if err != nil {
		http.Error(w, "no such record", http.StatusNotFound)
		return
	}
	var change struct {
		Notes string `json:"notes"`
	}
	body := http.MaxBytesReader(w, r.Body, 64<<10)
	if err := json.NewDecoder(body).Decode(&change); err != nil {
		http.Error(w, "notes are not valid JSON", http.StatusBadRequest)
		return
	}
	record.Notes = change.Notes
	if err := h.Store.Save(r.Context(), record); err != nil {
		http.Error(w, "record was not saved", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
