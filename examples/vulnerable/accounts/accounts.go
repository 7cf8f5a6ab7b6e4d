// Package accounts closes accounts over HTTP.
package accounts

import "net/http"

// Server knows the owner of each account.
type Server struct {
	Owners map[string]string
}

// Close removes an account. The proxy in front of it has put the user into a header.
func (s *Server) Close(w http.ResponseWriter, r *http.Request) {
	account := r.URL.Query().Get("account")
	if _, known := s.Owners[account]; !known {
		http.Error(w, "no such account", http.StatusNotFound)
		return
	}
	delete(s.Owners, account)
	w.WriteHeader(http.StatusNoContent)
}
